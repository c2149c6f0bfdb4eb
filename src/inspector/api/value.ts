import { UnregisteredInstance } from "../../display/tagged-json.ts";

/** A value on a line, for a row of the tree. */
export interface Summary {
  readonly type: string;
  /** The value, or its beginning. */
  readonly text: string;
  /** How many parts can be opened. */
  readonly parts: number;
  /** The full length of a text, or of bytes, that is not shown whole. */
  readonly length?: number;
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

export function summaryOf(value: unknown, shown: number = SHOWN_TEXT): Summary {
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
      return value === null ? leaf("null", "null") : objectSummary(value as object, shown);
  }
}

function objectSummary(value: object, shown: number): Summary {
  const parts = partCount(value);
  const container = (type: string, text: string): Summary => ({ type, text, parts });
  if (Array.isArray(value)) return container("array", `${value.length}`);
  if (value instanceof Map) return container("map", `${value.size}`);
  if (value instanceof Set) return container("set", `${value.size}`);
  if (value instanceof Date)
    return container("date", Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString());
  if (value instanceof RegExp) return container("regexp", String(value));
  if (value instanceof Error) return container("error", `${value.name}: ${value.message}`.slice(0, shown));
  if (value instanceof URL) return container("url", value.href);
  if (value instanceof URLSearchParams) return container("searchparams", value.toString());
  if (value instanceof UnregisteredInstance) return container("class", value.name);
  const bytes = bytesOf(value);
  if (bytes !== undefined) {
    const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString("hex");
    return { type: value.constructor.name, text, parts: 0, length: bytes.length };
  }
  return container("object", `${parts}`);
}

/** Returns the parts of a value from `offset` on, at most `limit`. */
export function partsOf(value: unknown, offset: number, limit: number): readonly Part[] {
  if (value === null || typeof value !== "object") return [];
  const end = offset + limit;
  if (Array.isArray(value)) {
    return value.slice(offset, end).map((part: unknown, index) => indexed(offset + index, part));
  }
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)].slice(offset, end);
    return entries.map(([key, part], index) => ({ step: offset + index, label: keyText(key), value: part }));
  }
  if (value instanceof Set)
    return [...(value as Set<unknown>)].slice(offset, end).map((part, index) => indexed(offset + index, part));
  return keysOf(value)
    .slice(offset, end)
    .map((key) => ({ step: key, label: key, value: Reflect.get(value, key) as unknown }));
}

/** Returns the value at a path; `found` is false when there is none. */
export function follow(
  value: unknown,
  path: readonly StateStep[],
): { readonly found: boolean; readonly value: unknown } {
  let here = value;
  for (const step of path) {
    if (here === null || typeof here !== "object") return { found: false, value: undefined };
    if (Array.isArray(here) || here instanceof Map || here instanceof Set) {
      if (typeof step !== "number" || step >= partCount(here)) return { found: false, value: undefined };
      here = partsOf(here, step, 1)[0]?.value;
    } else {
      const key = String(step);
      if (!keysOf(here).includes(key)) return { found: false, value: undefined };
      here = Reflect.get(here, key) as unknown;
    }
  }
  return { found: true, value: here };
}

function partCount(value: object): number {
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
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.keys(value) : [];
}

function indexed(index: number, value: unknown): Part {
  return { step: index, label: String(index), value };
}

function keyText(key: unknown): string {
  const { type, text } = summaryOf(key, 60);
  return type === "string" ? JSON.stringify(text) : type === "object" || type === "array" ? `${type} of ${text}` : text;
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
