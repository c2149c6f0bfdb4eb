import { assign } from "../../../platform/plain-objects.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { deferred, isReference, type Reference } from "../../references.ts";
import { forgetFlat } from "../../values/flat-list.ts";
import {
  corruptDelta,
  type Delta,
  kindOf,
  readEdit,
  readFields,
  readKeys,
  readList,
  readOrder,
  readSplice,
  readText,
} from "../format.ts";
import { placedOrder } from "../key-places.ts";

/** Decides which nodes of a tree may be changed in place: each method returns the node itself or a copy. */
export interface Ownership {
  object(node: JsonObject): JsonObject;
  array(node: Json[]): Json[];
  /** Joins a change with those that a reference has already; without it, they are kept one after the other. */
  defer?(reference: Reference, delta: Delta): Json;
}

const nothingOwned: Ownership = { object: (node) => ({ ...node }), array: (node) => node.slice() };
/**
 * Owns the nodes it has copied: a node is copied when it is first changed, and changed in place from then on. So a tree
 * can share nodes with the deltas that made it, and a push onto a long array still costs one push.
 */
export class OwnedCopies implements Ownership {
  readonly #owned = new WeakSet<object>();

  object(node: JsonObject): JsonObject {
    return this.#owned.has(node) ? node : this.#own({ ...node });
  }

  array(node: Json[]): Json[] {
    return this.#owned.has(node) ? node : this.#own(node.slice());
  }

  /** Returns the tree after the change. `tree` must not be used afterwards; the nodes of `delta` stay unchanged. */
  apply(tree: Json, delta: Delta): Json {
    return patch(tree, delta, this, 0);
  }

  #own<Node extends object>(copy: Node): Node {
    this.#owned.add(copy);
    return copy;
  }
}

const everythingOwned: Ownership = { object: (node) => node, array: (node) => node };

/**
 * Returns the tree after the change. `tree` stays unchanged; the result shares unchanged nodes with it and new nodes
 * with `delta`.
 *
 * @throws ThreadmarkError `CORRUPT` when the delta is malformed or does not fit the tree.
 */
export function apply(tree: Json, delta: Delta): Json {
  return patch(tree, delta, nothingOwned, 0);
}

/**
 * Returns the tree after the change, made in place where possible: a push onto a long array costs one push. `tree` must
 * belong to the caller alone. Neither `tree` nor `delta` may be used afterwards, even if this throws: their nodes
 * become part of the result and change with it.
 *
 * @throws ThreadmarkError `CORRUPT` when the delta is malformed or does not fit the tree.
 */
export function applyOwned(tree: Json, delta: Delta): Json {
  return patch(tree, delta, everythingOwned, 0);
}

/** Applies `delta` to `tree`, changing in place what `ownership` allows. */
export function patch(tree: Json, delta: Delta, ownership: Ownership, depth: number): Json {
  const kind = kindOf(delta, depth);
  if (kind === "nothing") return tree;
  if (kind === "replace") return delta.r as Json;
  // The value is elsewhere: it gets the change when it is read.
  if (isReference(tree)) return ownership.defer ? ownership.defer(tree, delta) : deferred(tree, delta);
  switch (kind) {
    case "object":
      if (!isObject(tree)) throw corruptDelta("it changes an object where there is none");
      return patchObject(ownership.object(tree), delta, ownership, depth);
    case "array":
      if (!Array.isArray(tree)) throw corruptDelta("it changes an array where there is none");
      return patchArray(ownership.array(tree), delta, ownership, depth);
    case "text":
      if (typeof tree !== "string") throw corruptDelta("it changes a string where there is none");
      return patchText(tree, delta);
  }
}

function patchObject(target: JsonObject, delta: Delta, ownership: Ownership, depth: number): JsonObject {
  const before = delta.m === undefined ? undefined : Object.keys(target);
  if (delta.u !== undefined) {
    for (const key of readKeys(delta.u, "u")) delete target[key];
  }
  if (delta.s !== undefined) {
    const set = readFields(delta.s, "s");
    for (const key of Object.keys(set)) assign(target, key, set[key] as Json);
  }
  if (delta.d !== undefined) {
    const changes = readFields(delta.d, "d");
    for (const key of Object.keys(changes)) {
      if (!Object.hasOwn(target, key)) throw corruptDelta("it changes the value of a key that is not there");
      assign(target, key, patch(target[key] as Json, changes[key] as Delta, ownership, depth + 1));
    }
  }
  if (before !== undefined) reorder(target, placedOrder(before, target, delta));
  if (delta.o !== undefined) reorder(target, readOrder(delta.o));
  return target;
}

/** Gives the keys of an object another order, by setting all again from the first that stands elsewhere. */
function reorder(target: JsonObject, order: ReadonlySet<string>): void {
  const values = new Map<string, Json>();
  const keys = Object.keys(target);
  if (keys.length > order.size) throw corruptDelta("it does not order every key");
  let position = 0;
  for (const key of order) {
    if (values.size === 0 && keys[position] === key) {
      position += 1;
      continue;
    }
    if (!Object.hasOwn(target, key)) throw corruptDelta("it orders a key that is not there");
    values.set(key, target[key] as Json);
    delete target[key];
  }
  for (const [key, value] of values) assign(target, key, value);
}

function patchArray(target: Json[], delta: Delta, ownership: Ownership, depth: number): Json[] {
  if (delta.l !== undefined && delta.l !== target.length)
    throw corruptDelta("it was made for an array of another length");
  if (delta.e !== undefined) {
    forgetFlat(target);
    let from = 0;
    for (const entry of readList(delta.e, "e")) {
      const [index, change] = readEdit(entry, from, target.length);
      target[index] = patch(target[index] as Json, change, ownership, depth + 1);
      from = index + 1;
    }
  }
  if (delta.x !== undefined) splice(target, readList(delta.x, "x"));
  if (delta.p !== undefined) append(target, readList(delta.p, "p"));
  return target;
}

/** A call with more arguments than this could overflow the stack. */
const spreadLimit = 1_000;

/** Appends all items in one call: a state that was just read consists mostly of items that packs appended. */
function append(target: Json[], items: readonly Json[]): void {
  if (items.length < spreadLimit) target.push(...items);
  else for (const item of items) target.push(item);
}

function splice(target: Json[], splices: readonly (readonly Json[])[]): void {
  const first = splices[0];
  if (splices.length === 1 && first !== undefined) {
    const [start, end] = readSplice(first, 0, target.length, "x");
    if (first.length < spreadLimit) {
      target.splice(start, end - start, ...first.slice(2));
      return;
    }
  }
  const result: Json[] = [];
  let position = 0;
  for (const entry of splices) {
    const [start, end] = readSplice(entry, position, target.length, "x");
    while (position < start) result.push(target[position++] as Json);
    for (let index = 2; index < entry.length; index++) result.push(entry[index] as Json);
    position = end;
  }
  while (position < target.length) result.push(target[position++] as Json);
  target.length = 0;
  for (const item of result) target.push(item);
}

function patchText(text: string, delta: Delta): string {
  if (delta.l !== undefined && delta.l !== text.length)
    throw corruptDelta("it was made for a string of another length");
  let result = text;
  if (delta.t !== undefined) {
    result = "";
    let position = 0;
    for (const entry of readList(delta.t, "t")) {
      const [start, end] = readSplice(entry, position, text.length, "t");
      result += text.slice(position, start) + readText(entry[2], "t");
      position = end;
    }
    result += text.slice(position);
  }
  return delta.a === undefined ? result : result + readText(delta.a, "a");
}
