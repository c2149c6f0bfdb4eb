import type { Json } from "../json.ts";
import {
  type Delta,
  kindOf,
  readEdit,
  readFields,
  readKeys,
  readList,
  readOrder,
  readSplice,
  readText,
  readWhole,
} from "./format.ts";
import { readPlaces } from "./key-places.ts";

/**
 * Checks that a value is a well-formed delta, without a tree to apply it to.
 *
 * @throws ThreadmarkError `CORRUPT` when it is not.
 */
export function validate(delta: Json): asserts delta is Delta {
  check(delta as Delta, 0);
}

function check(delta: Delta, depth: number): void {
  const kind = kindOf(delta, depth);
  if (kind === "object") checkObject(delta, depth);
  if (kind === "array") checkArray(delta, depth);
  if (kind === "text") checkText(delta);
}

function checkObject(delta: Delta, depth: number): void {
  if (delta.u !== undefined) readKeys(delta.u, "u");
  if (delta.s !== undefined) readFields(delta.s, "s");
  if (delta.d !== undefined) {
    for (const change of Object.values(readFields(delta.d, "d"))) check(change, depth + 1);
  }
  if (delta.m !== undefined) readPlaces(delta);
  if (delta.o !== undefined) readOrder(delta.o);
}

function checkArray(delta: Delta, depth: number): void {
  const length = delta.l === undefined ? 0 : readWhole(delta.l, 0, Number.MAX_SAFE_INTEGER, "l");
  if (delta.e !== undefined) {
    let from = 0;
    for (const entry of readList(delta.e, "e")) {
      const [index, change] = readEdit(entry, from, length);
      check(change, depth + 1);
      from = index + 1;
    }
  }
  if (delta.x !== undefined) {
    let from = 0;
    for (const entry of readList(delta.x, "x")) from = readSplice(entry, from, length, "x")[1];
  }
  if (delta.p !== undefined) readList(delta.p, "p");
}

function checkText(delta: Delta): void {
  const length = delta.l === undefined ? 0 : readWhole(delta.l, 0, Number.MAX_SAFE_INTEGER, "l");
  if (delta.t !== undefined) {
    let from = 0;
    for (const entry of readList(delta.t, "t")) {
      from = readSplice(entry, from, length, "t")[1];
      readText(entry[2], "t");
    }
  }
  if (delta.a !== undefined) readText(delta.a, "a");
}
