import { isPlainObject } from "../../platform/plain-objects.ts";
import { bytesText } from "../quantities.ts";
import { UnregisteredInstance } from "../tagged-json.ts";
import { cutText, type Fields, oneLine } from "./records.ts";
import { plainRenderers, type Renderers } from "./renderers.ts";

/** Fields that a value is known by come first in its preview. */
const TELLING = ["role", "type", "name", "title", "content", "text", "message", "question", "id"];

const SHORTEST = 6;

/**
 * Returns a value on a line, as a program would write it but cut: `{ role: "user", content: "Wh…" }`. It has about `most`
 * characters at the most, and names classes.
 */
export function previewOf(value: unknown, most: number, renderers: Renderers = plainRenderers): string {
  return preview(value, most, renderers, 0);
}

function preview(value: unknown, most: number, renderers: Renderers, depth: number): string {
  if (typeof value === "string") return quoted(value, most);
  if (typeof value === "bigint") return cutText(`${value}n`, most);
  if (value === null || typeof value !== "object") return Object.is(value, -0) ? "-0" : cutText(String(value), most);
  const rendered = renderers.of(value);
  if (rendered?.text !== undefined)
    return oneLine([rendered.title, rendered.text].filter(Boolean).join(" "), Math.max(most, SHORTEST));
  if (rendered !== undefined) {
    const inside = preview(
      rendered.fields ?? withoutRenderer(value),
      most - (rendered.title?.length ?? 0) - 1,
      plainRenderers,
      depth,
    );
    return rendered.title === undefined ? inside : `${rendered.title} ${inside}`;
  }
  if (Array.isArray(value)) return list("[", value, "]", most, renderers, depth);
  if (value instanceof Set) return `Set ${list("{", [...value], "}", most - 4, renderers, depth)}`;
  if (value instanceof Map)
    return `Map ${entries([...value] as [unknown, unknown][], most - 4, renderers, depth, " → ")}`;
  if (isPlainObject(value)) return entries(inOrder(value), most, renderers, depth, ": ");
  return instance(value, most, renderers, depth);
}

function instance(value: object, most: number, renderers: Renderers, depth: number): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return oneLine(`${value.name}: ${value.message}`, most);
  if (value instanceof RegExp || value instanceof URL || value instanceof URLSearchParams)
    return cutText(String(value), most);
  if (value instanceof UnregisteredInstance)
    return `${value.name} ${preview(value.data, most - value.name.length - 1, renderers, depth)}`;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return `${value.constructor.name} of ${bytesText(value.byteLength)}`;
  return value.constructor?.name ?? "object";
}

function withoutRenderer(value: object): unknown {
  return isPlainObject(value) ? { ...value } : value;
}

function quoted(text: string, most: number): string {
  const line = oneLine(text, Math.max(SHORTEST, most - 2));
  return `"${line}"`;
}

/** Returns the entries of a record, those that it is known by first. */
function inOrder(record: Fields): [unknown, unknown][] {
  const keys = Object.keys(record);
  if (keys.length > 3) {
    const rank = (key: string): number => (TELLING.includes(key) ? TELLING.indexOf(key) : TELLING.length);
    keys.sort((left, right) => rank(left) - rank(right));
  }
  return keys.map((key) => [key, record[key]]);
}

function entries(
  pairs: readonly (readonly [unknown, unknown])[],
  most: number,
  renderers: Renderers,
  depth: number,
  between: string,
): string {
  const part = ([key, value]: readonly [unknown, unknown], room: number): string => {
    const name = typeof key === "string" && between === ": " ? keyText(key) : preview(key, 20, renderers, depth + 1);
    return `${name}${between}${preview(value, room - name.length - between.length, renderers, depth + 1)}`;
  };
  return enclosed("{", pairs, "}", most, depth, part);
}

function list(
  open: string,
  values: readonly unknown[],
  close: string,
  most: number,
  renderers: Renderers,
  depth: number,
): string {
  return enclosed(open, values, close, most, depth, (value, room) => preview(value, room, renderers, depth + 1));
}

/** Joins parts until the room is used up, and counts the others. */
function enclosed<Part>(
  open: string,
  parts: readonly Part[],
  close: string,
  most: number,
  depth: number,
  text: (part: Part, room: number) => string,
): string {
  const space = open === "{" ? " " : "";
  if (parts.length === 0) return `${open}${close}`;
  const shown: string[] = [];
  let left = most - 4;
  for (const [index, part] of parts.entries()) {
    const least = index === 0 ? SHORTEST + 4 : SHORTEST + 8;
    if (left < least || depth > 3) break;
    const next = text(part, Math.min(left, depth === 0 ? Math.max(24, Math.floor(most / 2)) : 24));
    if (index > 0 && next.length > left) break;
    shown.push(next);
    left -= next.length + 2;
  }
  const rest = parts.length - shown.length;
  if (rest > 0) shown.push(shown.length === 0 ? `… ${parts.length}` : `… +${rest}`);
  return `${open}${space}${shown.join(", ")}${space}${close}`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? cutText(key, 24) : JSON.stringify(cutText(key, 24));
}
