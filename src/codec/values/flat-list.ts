import { isObject, isTagged, type Json } from "../json.ts";

/** Shorter lists are not worth a flat list. */
const shortest = 16;

/**
 * The plain objects at the start of a list, flattened: for each its node, its names, and its fields. Comparing a list
 * with it walks only the caller's objects, once, and reads their previous fields from consecutive cells.
 *
 * Invariant: each node in the cells is the node that the list has at that index (comparing checks this), and no such
 * node was changed in place ({@link forgetFlat} is called where that happens).
 */
export class FlatList {
  readonly cells: unknown[] = [];
  /** How many elements have cells. */
  length = 0;
  #names: readonly string[] = [];

  /** Adds the next element, if it is a plain object. */
  add(index: number, node: Json | undefined): void {
    if (index !== this.length || !isObject(node) || isTagged(node)) return;
    this.cells.push(node, this.#namesOf(node));
    for (const name in node) this.cells.push(node[name]);
    this.length += 1;
  }

  /** Keeps the first `length` elements, which take up `cells`. */
  cut(length: number, cells: number): void {
    this.length = length;
    this.cells.length = cells;
  }

  /** Returns the names of a node. Neighbours with equal names share the list. */
  #namesOf(node: object): readonly string[] {
    const names = Object.keys(node);
    const last = this.#names;
    if (names.length !== last.length || names.some((name, index) => name !== last[index])) this.#names = names;
    return this.#names;
  }
}

const flats = new WeakMap<readonly Json[], FlatList>();

/** Returns the flat list that belongs to a list, to read and extend; undefined for a short list. */
export function flatOf(list: readonly Json[]): FlatList | undefined {
  if (list.length < shortest) return undefined;
  let flat = flats.get(list);
  if (flat === undefined) {
    flat = new FlatList();
    flats.set(list, flat);
  }
  return flat;
}

/** Hands the flat list of `from` on to `to`, which begins with the same nodes. */
export function passFlat(from: readonly Json[], to: readonly Json[]): void {
  const flat = flats.get(from);
  if (flat !== undefined) flats.set(to, flat);
}

/** Drops the flat list of a list whose elements are about to change in place. */
export function forgetFlat(list: readonly Json[]): void {
  flats.delete(list);
}
