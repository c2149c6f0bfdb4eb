import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Delta } from "./format.ts";
import { sizeOf } from "./measure.ts";

/**
 * Returns about how many characters of JSON a delta adds to the tree it applies to; negative if it takes more away: see
 * {@link Growth}.
 */
export function growthOf(delta: Delta, before: Json, large?: number): number {
  return new Growth(delta, before, large).total;
}

/**
 * Measures a delta against the tree it applies to, in characters of JSON, about. Of a value from `large` on, `large` characters count: it is
 * stored by itself, whatever its length. It costs what the delta writes and removes, whatever the size of the tree.
 */
export class Growth {
  readonly #large: number;
  #written = 0;
  #removed = 0;

  constructor(delta: Delta, before: Json, large: number = Number.POSITIVE_INFINITY) {
    this.#large = large;
    this.#add(delta, before);
  }

  /** Returns how much longer the tree becomes; negative if shorter. */
  get total(): number {
    return this.#written - this.#removed;
  }

  /** Returns how long all new values are together. */
  get written(): number {
    return this.#written;
  }

  #add(delta: Delta, before: Json): void {
    if (delta.r !== undefined) {
      this.#write(delta.r);
      this.#remove(before);
    } else if (Array.isArray(before)) this.#addToList(delta, before);
    else if (isObject(before)) this.#addToObject(delta, before);
    else {
      this.#written += delta.a?.length ?? 0;
      for (const [, removed, text] of delta.t ?? []) {
        this.#written += text.length;
        this.#removed += removed;
      }
    }
  }

  #addToObject({ u = [], s, d }: Delta, before: JsonObject): void {
    for (const key of u) if (Object.hasOwn(before, key)) this.#remove(before[key] as Json, key.length + 4);
    if (s !== undefined) {
      for (const key of Object.keys(s)) {
        // A key that is removed first was taken off already.
        const isNew = !Object.hasOwn(before, key) || u.includes(key);
        this.#write(s[key] as Json, isNew ? key.length + 4 : 0);
        if (!isNew) this.#remove(before[key] as Json);
      }
    }
    if (d !== undefined) for (const key of Object.keys(d)) this.#add(d[key] as Delta, before[key] as Json);
  }

  #addToList({ e = [], x = [], p = [] }: Delta, before: readonly Json[]): void {
    for (const [index, change] of e) this.#add(change, before[index] as Json);
    for (const [start, removed, ...items] of x) {
      for (let index = start; index < start + removed; index += 1) this.#remove(before[index] as Json, 1);
      for (const item of items) this.#write(item, 1);
    }
    for (const item of p) this.#write(item, 1);
  }

  #write(tree: Json, around = 0): void {
    this.#written += around + Math.min(sizeOf(tree, this.#large), this.#large);
  }

  #remove(tree: Json, around = 0): void {
    this.#removed += around + Math.min(sizeOf(tree, this.#large), this.#large);
  }
}
