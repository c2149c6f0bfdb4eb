import { ThreadmarkError } from "../../errors.ts";
import type { Json } from "../json.ts";

/**
 * A change from one JSON tree to another, itself plain JSON, so that it can be stringified as it is. Keys have one
 * letter to keep it small. A delta is of a single kind: a replacement (`r`), or a change of an object (`u s d m o`), of
 * an array (`l e x p`) or of a string (`l t a`). `{}` changes nothing. All positions are positions before the change.
 */
export type Delta = {
  /** The value that replaces the whole tree. */
  r?: Json;
  /** Object, first: keys to remove. Absent keys are ignored. */
  u?: string[];
  /** Object, second: keys to set. An existing key keeps its position; new keys go to the end in this order. */
  s?: { [key: string]: Json };
  /** Object, third: keys whose values change. */
  d?: { [key: string]: Delta };
  /** Object, fourth: new keys of `s` that stand right before the place that the first of a list, the anchor, had. */
  m?: [anchor: string, ...keys: string[]][];
  /** Object, last: all keys in their final order; only where the other members cannot produce that order. */
  o?: string[];
  /** Array or string: its length before the change. Required with `e`, `x` and `t`. */
  l?: number;
  /** Array, first: elements that change, by ascending index. */
  e?: [index: number, change: Delta][];
  /** Array, second: splices (elements removed and inserted), ascending, not overlapping. */
  x?: [start: number, removed: number, ...items: Json[]][];
  /** Array, last: elements pushed at the end. */
  p?: Json[];
  /** String, first: splices (text removed and inserted, UTF-16 offsets), ascending, not overlapping. */
  t?: [start: number, removed: number, text: string][];
  /** String, last: text appended. */
  a?: string;
};

/**
 * Elements of a sealed array change: a run from the cursor, a run from a position, a literal, or an earlier version.
 */
export type ItemReference = number | [start: number, count: number] | { r: Json } | { b: Delta };

/**
 * A delta of a sealed sequence. Payloads that survive in the net delta are referred to instead of repeated; "the net
 * node" below is the node of the net delta at the same path.
 */
export type SealedStep = Omit<Delta, "d" | "e"> & {
  d?: { [key: string]: SealedStep };
  e?: [index: number, change: SealedStep][];
  /** A replacement by an earlier version of the net node's value: this delta leads from that value to it. */
  b?: Delta;
  /** Object: keys set to the net node's value. */
  h?: string[];
  /** Object: keys set to an earlier version of the net node's value: this delta leads from that value to it. */
  v?: { [key: string]: Delta };
  /** Object: the order of all keys set, where `s`, `h`, `v` in sequence do not produce it. */
  k?: string[];
  /** Array: elements pushed; a bare number is short for a list of that number. */
  n?: number | ItemReference[];
  /** Array: splices with their elements by reference. */
  y?: [start: number, removed: number, ...items: ItemReference[]][];
  /** String: text appended: a count of units from the cursor, or a position and a count. */
  c?: number | [start: number, count: number];
  /** String: splices, with literal text or with a position and a count. */
  w?: (
    | [start: number, removed: number, text: string]
    | [start: number, removed: number, from: number, count: number]
  )[];
};

/** A value changed deeper than this is replaced, so that no reader of a delta needs an unbounded stack. */
export const maximumDepth = 256;

export type DeltaKind = "nothing" | "replace" | "object" | "array" | "text";

const replaceBit = 1;
const objectBit = 2;
const arrayBit = 4;
const textBit = 8;
const lengthBit = 16;
const positionBit = 32;
const sealedBit = 64;

/**
 * Indexed by the letter's character code: looking letters up by name would take most of the time of composing deltas.
 */
const bits = new Uint8Array(128);
for (const [letter, bit] of Object.entries({
  r: replaceBit,
  u: objectBit,
  s: objectBit,
  d: objectBit,
  m: objectBit,
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

/**
 * Returns the kind of a delta; throws `CORRUPT` for anything else. Its members still have to be read with the checks
 * below.
 */
export function kindOf(delta: unknown, depth: number): DeltaKind {
  const mask = letters(delta, depth);
  if (mask & sealedBit) throw corruptDelta("a sealed step stands where a delta must be");
  return kindOfMask(mask);
}

/** Returns the kind of a sealed step; throws `CORRUPT` for anything else. */
export function kindOfStep(step: unknown, depth: number): DeltaKind {
  return kindOfMask(letters(step, depth) & ~sealedBit);
}

function letters(delta: unknown, depth: number): number {
  if (typeof delta !== "object" || delta === null || Array.isArray(delta))
    throw corruptDelta("a delta must be an object");
  if (depth > maximumDepth) throw corruptDelta(`deltas are nested more than ${maximumDepth} deep`);
  let mask = 0;
  let count = 0;
  for (const letter in delta) {
    const bit = letter.length === 1 ? bits[letter.charCodeAt(0)] : undefined;
    if (!bit) throw corruptDelta(`a delta has the unknown key ${JSON.stringify(letter.slice(0, 40))}`);
    mask |= bit;
    count++;
  }
  if (mask & replaceBit && count > 1) throw corruptDelta("a replacement does something else besides");
  return mask;
}

function kindOfMask(mask: number): DeltaKind {
  const kind = mask & (replaceBit | objectBit | arrayBit | textBit);
  if (mask & positionBit && !(mask & lengthBit))
    throw corruptDelta("a delta has positions but not the length before it");
  if (mask & lengthBit && kind !== arrayBit && kind !== textBit)
    throw corruptDelta("a delta has a length out of place");
  if (kind === objectBit) return "object";
  if (kind === arrayBit) return "array";
  if (kind === textBit) return "text";
  if (kind === replaceBit) return "replace";
  if (kind === 0) return "nothing";
  throw corruptDelta("a delta changes two kinds of value at once");
}

export function corruptDelta(fault: string): ThreadmarkError {
  return new ThreadmarkError("CORRUPT", `The delta cannot be used: ${fault}. Run verify() to find the damaged frames.`);
}

export function readList<Item>(value: Item[] | undefined, letter: string): readonly Item[] {
  if (!Array.isArray(value)) throw corruptDelta(`"${letter}" must be a list`);
  return value;
}

export function readKeys(value: string[] | undefined, letter: string): readonly string[] {
  for (const key of readList<unknown>(value, letter)) {
    if (typeof key !== "string") throw corruptDelta(`"${letter}" must be a list of keys`);
  }
  return value as string[];
}

/** Reads the keys of an object in order, none twice. */
export function readOrder(value: string[] | undefined): ReadonlySet<string> {
  const keys = readKeys(value, "o");
  const order = new Set(keys);
  if (order.size !== keys.length) throw corruptDelta('"o" names a key twice');
  return order;
}

export function readFields<Value>(
  value: { [key: string]: Value } | undefined,
  letter: string,
): { [key: string]: Value } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw corruptDelta(`"${letter}" must be an object`);
  return value;
}

export function readText(value: string | undefined, letter: string): string {
  if (typeof value !== "string") throw corruptDelta(`"${letter}" must be a string`);
  return value;
}

/** Reads the index of an edited element, which is at least `from`, and its change. */
export function readEdit<Edit>(entry: [number, Edit], from: number, length: number): [index: number, change: Edit] {
  if (!Array.isArray(entry) || entry.length !== 2) throw corruptDelta('"e" must be a list of pairs');
  readWhole(entry[0], from, length - 1, "e");
  return entry;
}

/** Reads a whole number in [minimum, maximum]. */
export function readWhole(value: unknown, minimum: number, maximum: number, letter: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum) {
    throw corruptDelta(`"${letter}" has a number that does not fit`);
  }
  return value as number;
}

/** Reads the position and removed count of a splice that starts at or after `from` and ends within `length`. */
export function readSplice(
  splice: unknown,
  from: number,
  length: number,
  letter: string,
): [start: number, end: number] {
  if (!Array.isArray(splice) || splice.length < 2) throw corruptDelta(`"${letter}" must be a list of splices`);
  const start = readWhole(splice[0], from, length, letter);
  return [start, start + readWhole(splice[1], 0, length - start, letter)];
}
