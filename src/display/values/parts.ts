import { isPlainObject } from "../../platform/plain-objects.ts";
import { UnregisteredInstance } from "../tagged-json.ts";
import { splitKeys } from "./internals.ts";
import { previewOf } from "./preview.ts";
import type { Fields } from "./records.ts";
import { plainRenderers, type Renderers } from "./renderers.ts";

/** A value on a line, for a row of a tree. */
export interface Summary {
  readonly type: string;
  /** The value, or its beginning; a preview of a value with parts. */
  readonly text: string;
  /** How many parts can be opened. */
  readonly parts: number;
  /** The full length of a text, or of bytes, that is not shown whole. */
  readonly length?: number;
  /** The name of the value's class, or that of its renderer. */
  readonly title?: string;
}

export type StateStep = string | number;

export interface Part {
  /** The step of a path that leads to the part. */
  readonly step: StateStep;
  /** The name of the part: a key, an index, the key of a Map's entry. */
  readonly label: string;
  readonly value: unknown;
}

const SHOWN_TEXT = 200;
const SHOWN_BYTES = 32;
const SHOWN_PREVIEW = 90;

export function summaryOf(value: unknown, shown: number = SHOWN_TEXT, renderers: Renderers = plainRenderers): Summary {
  const leaf = (type: string, text: string): Summary => ({ type, text, parts: 0 });
  switch (typeof value) {
    case "string":
      if (value.length <= shown) return leaf("string", value);
      return { type: "string", text: wellFormed(value.slice(0, shown)), parts: 0, length: value.length };
    case "number":
      return leaf("number", Object.is(value, -0) ? "-0" : String(value));
    case "bigint":
      return leaf("bigint", `${value}n`);
    case "boolean":
      return leaf("boolean", String(value));
    case "undefined":
      return leaf("undefined", "undefined");
    default:
      return value === null ? leaf("null", "null") : objectSummary(value as object, shown, renderers);
  }
}

function objectSummary(value: object, shown: number, renderers: Renderers): Summary {
  const parts = partCount(value, renderers);
  const container = (type: string, text: string): Summary => ({ type, text, parts });
  const rendered = renderers.of(value);
  if (rendered !== undefined) {
    const text = rendered.text ?? previewOf(rendered.fields ?? { ...value }, SHOWN_PREVIEW, renderers);
    return rendered.title === undefined
      ? container("object", text)
      : { type: "class", text, parts, title: rendered.title };
  }
  if (Array.isArray(value)) return container("array", previewOf(value, SHOWN_PREVIEW, renderers));
  if (value instanceof Map) return container("map", previewOf(value, SHOWN_PREVIEW, renderers).slice(4));
  if (value instanceof Set) return container("set", previewOf(value, SHOWN_PREVIEW, renderers).slice(4));
  if (value instanceof Date)
    return container("date", Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString());
  if (value instanceof RegExp) return container("regexp", String(value));
  if (value instanceof Error) return container("error", `${value.name}: ${value.message}`.slice(0, shown));
  if (value instanceof URL) return container("url", value.href);
  if (value instanceof URLSearchParams) return container("searchparams", value.toString());
  if (value instanceof UnregisteredInstance)
    return { type: "class", text: previewOf(value.data, SHOWN_PREVIEW, renderers), parts, title: value.name };
  const bytes = bytesOf(value);
  if (bytes !== undefined) {
    const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString("hex");
    return { type: value.constructor.name, text, parts: 0, length: bytes.length };
  }
  return container("object", previewOf(value, SHOWN_PREVIEW, renderers));
}

/** Returns the parts of a value from `offset` on, at most `limit`. */
export function partsOf(
  value: unknown,
  offset: number,
  limit: number,
  renderers: Renderers = plainRenderers,
): readonly Part[] {
  if (value === null || typeof value !== "object") return [];
  const end = offset + limit;
  const fields = renderers.of(value)?.fields;
  if (fields !== undefined) return keyed(fields, Object.keys(fields).slice(offset, end));
  if (Array.isArray(value)) {
    return value.slice(offset, end).map((part: unknown, index) => indexed(offset + index, part));
  }
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)].slice(offset, end);
    return entries.map(([key, part], index) => ({ step: offset + index, label: keyText(key), value: part }));
  }
  if (value instanceof Set)
    return [...(value as Set<unknown>)].slice(offset, end).map((part, index) => indexed(offset + index, part));
  return keyed(value, keysOf(value).slice(offset, end));
}

/** Returns the keys of a state as parts: its user's first, then those that LangGraph keeps, and how many these are. */
export function partsOfState(state: unknown): { readonly parts: readonly Part[]; readonly internal: number } {
  if (!isPlainObject(state)) return { parts: partsOf(state, 0, Number.POSITIVE_INFINITY), internal: 0 };
  const { shown, internal } = splitKeys(state);
  return { parts: keyed(state, [...shown, ...internal]), internal: internal.length };
}

/** Returns the value at a path; `found` is false when there is none. */
export function follow(
  value: unknown,
  path: readonly StateStep[],
  renderers: Renderers = plainRenderers,
): { readonly found: boolean; readonly value: unknown } {
  let here = value;
  for (const step of path) {
    if (here === null || typeof here !== "object") return { found: false, value: undefined };
    const fields = renderers.of(here)?.fields;
    if (fields !== undefined && Object.hasOwn(fields, String(step))) here = fields[String(step)];
    else if (Array.isArray(here) || here instanceof Map || here instanceof Set) {
      if (typeof step !== "number" || step >= partCount(here, renderers)) return { found: false, value: undefined };
      here = partsOf(here, step, 1, renderers)[0]?.value;
    } else {
      const key = String(step);
      if (!keysOf(here).includes(key)) return { found: false, value: undefined };
      here = Reflect.get(here, key) as unknown;
    }
  }
  return { found: true, value: here };
}

function partCount(value: object, renderers: Renderers): number {
  const fields = renderers.of(value)?.fields;
  if (fields !== undefined) return Object.keys(fields).length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map || value instanceof Set) return value.size;
  return keysOf(value).length;
}

const ERROR_FIELDS = ["name", "message", "stack", "cause", "errors"];

function keysOf(value: object): readonly string[] {
  if (value instanceof UnregisteredInstance) return ["data"];
  if (value instanceof Error) {
    const fields = ERROR_FIELDS.filter((key) => Object.hasOwn(value, key));
    return [...fields, ...Object.keys(value).filter((key) => !fields.includes(key))];
  }
  return isPlainObject(value) ? Object.keys(value) : [];
}

function keyed(value: object | Fields, keys: readonly string[]): readonly Part[] {
  return keys.map((key) => ({ step: key, label: key, value: Reflect.get(value, key) as unknown }));
}

function indexed(index: number, value: unknown): Part {
  return { step: index, label: String(index), value };
}

function keyText(key: unknown): string {
  return typeof key === "string" ? JSON.stringify(wellFormed(key.slice(0, 60))) : previewOf(key, 60);
}

/** Returns the bytes of a buffer or of a view. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

/** Drops half a character at the end of a cut text. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1).toWellFormed();
}
