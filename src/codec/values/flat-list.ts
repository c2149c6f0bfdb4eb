import { isObject, isTagged, type Json } from "../json.ts";

/** Shorter lists are not worth it. */
const shortest = 16;

/**
 * The plain objects at the start of a list, laid out in a row: for each its node, its names, and its fields. Comparing a
 * list with that walks the caller's objects alone, once, and reads what they had before from one place after the other.
 *
 * It holds as long as each node is the one the list has there, which is looked at, and is not changed in place, which
 * {@link forgetFlat} is told of.
 */
export class FlatList {
  readonly cells: unknown[] = [];
  /** How many elements there are cells for. */
  length = 0;
  #names: readonly string[] = [];

  /** Adds the element that follows the last one, if it is a plain object. */
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

  /** Elements of the same names share a list of them. */
  #namesOf(node: object): readonly string[] {
    const names = Object.keys(node);
    const last = this.#names;
    if (names.length !== last.length || names.some((name, index) => name !== last[index])) this.#names = names;
    return this.#names;
  }
}

const flats = new WeakMap<readonly Json[], FlatList>();

/** What is laid out of a list, to be used and added to; undefined for a short one. */
export function flatOf(list: readonly Json[]): FlatList | undefined {
  if (list.length < shortest) return undefined;
  let flat = flats.get(list);
  if (flat === undefined) {
    flat = new FlatList();
    flats.set(list, flat);
  }
  return flat;
}

/** A list was made that begins like another. */
export function passFlat(from: readonly Json[], to: readonly Json[]): void {
  const flat = flats.get(from);
  if (flat !== undefined) flats.set(to, flat);
}

/** Elements of a list are changed in place. */
export function forgetFlat(list: readonly Json[]): void {
  flats.delete(list);
}
