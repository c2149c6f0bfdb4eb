import { ThreadmarkError } from "../../errors.ts";
import type { Json, JsonObject } from "../json.ts";

/**
 * A change from one JSON tree to another; itself plain JSON, so that it can be stringified as it is. One-letter keys
 * keep it small. A delta is of one kind: a replacement (`r`), or a change of an object (`u s d o`), of an array
 * (`l e x p`) or of a string (`l t a`). `{}` changes nothing. Every position is a position before the change.
 */
export type Delta = {
  /** Replace the whole tree by this. */
  r?: Json;
  /** Object, first: keys to remove. A key that is not there is passed over. */
  u?: string[];
  /** Object, second: keys to set. A key that is there keeps its place, others go to the end in this order. */
  s?: { [key: string]: Json };
  /** Object, third: keys whose values change. */
  d?: { [key: string]: Delta };
  /** Object, last: all keys in their final order; only where the order cannot be had otherwise. */
  o?: string[];
  /** Array or string: its length before the change. Required with `e`, `x` and `t`. */
  l?: number;
  /** Array, first: elements that change, by ascending index. */
  e?: [index: number, change: Delta][];
  /** Array, second: elements removed and put in their place, ascending, not overlapping. */
  x?: [start: number, removed: number, ...items: Json[]][];
  /** Array, last: elements pushed at the end. */
  p?: Json[];
  /** String, first: text removed and put in its place (UTF-16 offsets), ascending, not overlapping. */
  t?: [start: number, removed: number, text: string][];
  /** String, last: text appended. */
  a?: string;
};

/** Elements of a sealed array change: a run from the cursor, a run from a position, a literal, an earlier version. */
export type ItemReference = number | [start: number, count: number] | { r: Json } | { b: Delta };

/**
 * A delta of a sealed sequence: payloads that live on in the net delta are referred to instead of repeated. What is
 * said of "the source" is the place in the net delta that belongs to the same path.
 */
export type Step = Omit<Delta, "d" | "e"> & {
  d?: { [key: string]: Step };
  e?: [index: number, change: Step][];
  /** A replacement by an earlier version of the source's value: apply this delta to it. */
  b?: Delta;
  /** Object: keys set to the source's value. */
  h?: string[];
  /** Object: keys set to an earlier version of the source's value: apply this delta to it. */
  v?: { [key: string]: Delta };
  /** Object: the order of all keys set, where `s`, `h`, `v` one after the other do not give it. */
  k?: string[];
  /** Array: elements pushed; a number is short for a list of that one number. */
  n?: number | ItemReference[];
  /** Array: splices with their elements by reference. */
  y?: [start: number, removed: number, ...items: ItemReference[]][];
  /** String: text appended: so many units from the cursor, or from a position. */
  c?: number | [start: number, count: number];
  /** String: splices, their text literal or as a position and a count. */
  w?: (
    | [start: number, removed: number, text: string]
    | [start: number, removed: number, from: number, count: number]
  )[];
};

/** Deeper than this a changed value is replaced, so that no reader of a delta needs an unbounded stack. */
export const maximumDepth = 256;

export type Kind = "nothing" | "replace" | "object" | "array" | "text";

const replaceBit = 1;
const objectBit = 2;
const arrayBit = 4;
const textBit = 8;
const lengthBit = 16;
const positionBit = 32;
const sealedBit = 64;

/** By the letter's code: looking letters up by name would take most of the time of composing deltas. */
const bits = new Uint8Array(128);
for (const [letter, bit] of Object.entries({
  r: replaceBit,
  u: objectBit,
  s: objectBit,
  d: objectBit,
  o: objectBit,
  l: lengthBit,
  e: arrayBit | positionBit,
  x: arrayBit | positionBit,
  p: arrayBit,
  t: textBit | positionBit,
  a: textBit,
  b: replaceBit | sealedBit,
  h: objectBit | sealedBit,
  v: objectBit | sealedBit,
  k: objectBit | sealedBit,
  n: arrayBit | sealedBit,
  y: arrayBit | positionBit | sealedBit,
  c: textBit | sealedBit,
  w: textBit | positionBit | sealedBit,
})) {
  bits[letter.charCodeAt(0)] = bit;
}

/** The kind of a delta; throws `CORRUPT` for what is none. Its members still have to be read with the checks below. */
export function kindOf(delta: unknown, depth: number): Kind {
  const mask = letters(delta, depth);
  if (mask & sealedBit) throw corrupt("a sealed step stands where a delta must be");
  return kindOfMask(mask);
}

/** The kind of a sealed step; throws `CORRUPT` for what is none. */
export function kindOfStep(step: unknown, depth: number): Kind {
  return kindOfMask(letters(step, depth) & ~sealedBit);
}

function letters(delta: unknown, depth: number): number {
  if (typeof delta !== "object" || delta === null || Array.isArray(delta)) throw corrupt("a delta must be an object");
  if (depth > maximumDepth) throw corrupt(`deltas are nested more than ${maximumDepth} deep`);
  let mask = 0;
  let count = 0;
  for (const letter in delta) {
    const bit = letter.length === 1 ? bits[letter.charCodeAt(0)] : undefined;
    if (!bit) throw corrupt(`a delta has the unknown key ${JSON.stringify(letter.slice(0, 40))}`);
    mask |= bit;
    count++;
  }
  if (mask & replaceBit && count > 1) throw corrupt("a replacement does something else besides");
  return mask;
}

function kindOfMask(mask: number): Kind {
  const kind = mask & (replaceBit | objectBit | arrayBit | textBit);
  if (mask & positionBit && !(mask & lengthBit)) throw corrupt("a delta has positions but not the length before it");
  if (mask & lengthBit && kind !== arrayBit && kind !== textBit) throw corrupt("a delta has a length out of place");
  if (kind === objectBit) return "object";
  if (kind === arrayBit) return "array";
  if (kind === textBit) return "text";
  if (kind === replaceBit) return "replace";
  if (kind === 0) return "nothing";
  throw corrupt("a delta changes two kinds of value at once");
}

export function corrupt(fault: string): ThreadmarkError {
  return new ThreadmarkError("CORRUPT", `The delta cannot be used: ${fault}. Run verify() to find the damaged frames.`);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own property, whatever its name: an assignment to `__proto__` would change the prototype instead. */
export function assign<Value>(target: { [key: string]: Value }, key: string, value: Value): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

export function readList<Item>(value: Item[] | undefined, letter: string): readonly Item[] {
  if (!Array.isArray(value)) throw corrupt(`"${letter}" must be a list`);
  return value;
}

export function readKeys(value: string[] | undefined, letter: string): readonly string[] {
  for (const key of readList<unknown>(value, letter)) {
    if (typeof key !== "string") throw corrupt(`"${letter}" must be a list of keys`);
  }
  return value as string[];
}

/** All keys of an object in order: none twice. */
export function readOrder(value: string[] | undefined, letter: string): ReadonlySet<string> {
  const keys = readKeys(value, letter);
  const order = new Set(keys);
  if (order.size !== keys.length) throw corrupt(`"${letter}" names a key twice`);
  return order;
}

export function readFields<Value>(
  value: { [key: string]: Value } | undefined,
  letter: string,
): { [key: string]: Value } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw corrupt(`"${letter}" must be an object`);
  return value;
}

export function readText(value: string | undefined, letter: string): string {
  if (typeof value !== "string") throw corrupt(`"${letter}" must be a string`);
  return value;
}

/** An element's index, from `from` on, and what changes it. */
export function readEdit<Change>(
  entry: [number, Change],
  from: number,
  length: number,
): [index: number, change: Change] {
  if (!Array.isArray(entry) || entry.length !== 2) throw corrupt('"e" must be a list of pairs');
  readWhole(entry[0], from, length - 1, "e");
  return entry;
}

/** A whole number in [minimum, maximum]. */
export function readWhole(value: unknown, minimum: number, maximum: number, letter: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum) {
    throw corrupt(`"${letter}" has a number that does not fit`);
  }
  return value as number;
}

/** The position and removed count of a splice that starts at or after `from` and ends within `length`. */
export function readSplice(
  splice: unknown,
  from: number,
  length: number,
  letter: string,
): [start: number, end: number] {
  if (!Array.isArray(splice) || splice.length < 2) throw corrupt(`"${letter}" must be a list of splices`);
  const start = readWhole(splice[0], from, length, letter);
  return [start, start + readWhole(splice[1], 0, length - start, letter)];
}
