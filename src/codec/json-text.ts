import { ThreadmarkError } from "../errors.ts";
import { byteLength } from "../platform/bytes.ts";
import type { Json } from "./json.ts";

/**
 * The most bytes of UTF-8 in a stored record or in a line of a bundle. V8's strings end at 536,870,888 characters,
 * values of SQLite and Postgres at about a billion bytes; the rest is room for the text around a record.
 */
export const RECORD_BYTES = 500_000_000;

/** The most bytes that a unit of a string's length takes in UTF-8. */
export const BYTES_OF_UNIT = 3;

/** A string this long is measured piece by piece, since its JSON may be six times as long. */
const PIECE = 1 << 20;

/** Characters that take a single byte and are not escaped in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Returns the JSON of a value. Throws `TOO_LARGE` where that would take more than {@link RECORD_BYTES}. */
export function jsonText(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const bytes = jsonBytes(value as Json);
    throw bytes > RECORD_BYTES ? tooLarge("A record", bytes, RECORD_BYTES, { cause }) : cause;
  }
  checkText(text, "A record", RECORD_BYTES);
  return text;
}

/** Throws `TOO_LARGE` where a text takes more than `limit` bytes of UTF-8. */
export function checkText(text: string, what: string, limit: number): void {
  if (text.length * BYTES_OF_UNIT <= limit) return;
  const bytes = byteLength(text);
  if (bytes > limit) throw tooLarge(what, bytes, limit);
}

/** About how many bytes a reference takes that stands in place of a large value. */
export const REFERENCE_BYTES = 100;

/**
 * Returns how many bytes of UTF-8 the JSON of a tree takes, without making it. Strings whose JSON has `large` characters
 * or more count as references.
 */
export function jsonBytes(tree: Json, large: number = Number.POSITIVE_INFINITY): number {
  if (typeof tree === "string") return tree.length + 2 >= large ? REFERENCE_BYTES : stringBytes(tree);
  if (typeof tree !== "object" || tree === null) return String(tree).length;
  let bytes = 2;
  let separators = -1;
  if (Array.isArray(tree)) {
    for (const item of tree) {
      bytes += jsonBytes(item, large);
      separators += 1;
    }
  } else {
    for (const key of Object.keys(tree)) {
      bytes += stringBytes(key) + 1 + jsonBytes(tree[key] as Json, large);
      separators += 1;
    }
  }
  return bytes + Math.max(separators, 0);
}

/** Returns an upper bound on the bytes that a text takes; the exact number where it is long. */
export function mostBytes(text: string): number {
  return text.length < PIECE ? text.length * BYTES_OF_UNIT : byteLength(text);
}

function stringBytes(text: string): number {
  if (PLAIN.test(text)) return text.length + 2;
  if (text.length <= PIECE) return byteLength(JSON.stringify(text));
  let bytes = 2;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length);
    // Keeps both halves of a surrogate pair in the same piece: alone, each would be escaped.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    bytes += byteLength(JSON.stringify(text.slice(start, end))) - 2;
    start = end;
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Returns an error for something that takes more bytes than a record may hold. */
export function tooLarge(
  what: string,
  bytes: number,
  limit: number,
  details: { readonly thread?: string; readonly path?: string; readonly cause?: unknown } = {},
): ThreadmarkError {
  return new ThreadmarkError(
    "TOO_LARGE",
    `${what} takes ${bytes.toLocaleString("en")} bytes, and at most ${limit.toLocaleString("en")} can be stored. ` +
      "Nothing was written. Keep large values elsewhere, and in the state only where they are.",
    { ...details, bytes, limit },
  );
}
