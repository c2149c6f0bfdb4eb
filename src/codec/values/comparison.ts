import type { Json, JsonObject } from "../json.ts";
import { type FlatList, flatOf } from "./flat-list.ts";
import { samePrimitive } from "./kinds/primitive.ts";
import type { Trail } from "./trail.ts";

export type Fields = Record<string, unknown>;

/** The part of the encoder that a comparison falls back on. */
interface Fallback {
  /** True once the encoder made a node with a tag. */
  tagged: boolean;
  readonly trail: Trail;
  capture(value: unknown, previous: Json | undefined, depth: number): Json;
}

/**
 * Compares values with the nodes captured before. It makes nothing and reads no property descriptors, since those were
 * checked when the value was new. `Object.is` comes first everywhere: it recognises two references to the same string
 * without reading the string, which is rarely in the processor's caches.
 */
export class Comparison {
  readonly #encoder: Fallback;
  /** A stack of the names and values of the objects being compared; `#top` is its height. */
  readonly #names: string[] = [];
  readonly #fields: unknown[] = [];
  #top = 0;

  constructor(encoder: Fallback) {
    this.#encoder = encoder;
  }

  /** Drops all references to the caller's values. */
  release(): void {
    this.#fields.length = 0;
    this.#top = 0;
  }

  /** Returns how many elements at the start of a list are unchanged. */
  sameStart(value: readonly unknown[], previous: readonly Json[], depth: number): number {
    const { holders } = this.#encoder.trail;
    holders[depth] = value;
    const shorter = Math.min(value.length, previous.length);
    // A list whose first element is identical needs no flat list: identity decides.
    const flat = value[0] === previous[0] ? undefined : flatOf(previous);
    let start = flat === undefined ? 0 : this.#sameFlat(value, previous, flat, depth);
    while (start < shorter && this.sameElement(value, start, previous[start], depth)) {
      flat?.add(start, previous[start]);
      start++;
    }
    return start;
  }

  sameElement(value: readonly unknown[], index: number, previous: Json | undefined, depth: number): boolean {
    const element = value[index];
    // A node that is the caller's own object is frozen, so it cannot have changed.
    if (Object.is(element, previous)) return element !== undefined;
    if (element === undefined && !Object.hasOwn(value, index)) return false;
    this.#encoder.trail.steps[depth] = index;
    return this.#same(element, previous, depth + 1);
  }

  /** Does the work of {@link sameStart} for the elements in the flat list. */
  #sameFlat(value: readonly unknown[], previous: readonly Json[], flat: FlatList, depth: number): number {
    const { cells } = flat;
    const count = Math.min(value.length, previous.length, flat.length);
    let next = 0;
    for (let index = 0; index < count; index++) {
      if (!Object.is(cells[next], previous[index])) {
        flat.cut(index, next);
        return index;
      }
      const names = cells[next + 1] as readonly string[];
      const first = next + 2;
      next = first + names.length;
      const element = value[index];
      if (typeof element !== "object" || element === null) return index;
      // Reading any property first makes V8's compiler check the object's hidden class, which implies the prototype: a
      // fourth faster.
      void element.constructor;
      if (Object.getPrototypeOf(element) !== Object.prototype || Array.isArray(element)) return index;
      let cell = first;
      for (const name in element) {
        if (names[cell - first] !== name) return index;
        const field = (element as Fields)[name];
        const before = cells[cell++] as Json;
        if (!Object.is(field, before) && !this.#sameField(element, index, name, field, before, depth)) return index;
      }
      if (cell !== next) return index;
    }
    return count;
  }

  #sameField(element: object, index: number, name: string, field: unknown, before: Json, depth: number): boolean {
    if (typeof field !== "object" || field === null) return samePrimitive(field, before);
    const { steps, holders } = this.#encoder.trail;
    steps[depth] = index;
    holders[depth + 1] = element;
    steps[depth + 1] = name;
    return this.#same(field, before, depth + 2);
  }

  #same(value: unknown, previous: Json | undefined, depth: number): boolean {
    if (typeof value !== "object" || value === null) return samePrimitive(value, previous);
    if (typeof previous !== "object" || previous === null) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) {
      if (!Array.isArray(value)) {
        if (Array.isArray(previous)) return false;
        const end = this.unfold(value as Fields, false);
        if (end >= 0) return this.#sameFields(value as Fields, previous, end, depth);
      }
    } else if (prototype === Array.prototype && Array.isArray(value)) {
      if (!Array.isArray(previous) || value.length !== previous.length) return false;
      return this.sameStart(value, previous, depth) === value.length;
    }
    // Drops the captured node unless it is the previous one.
    const encoder = this.#encoder;
    const { tagged } = encoder;
    const node = encoder.capture(value, previous, depth);
    encoder.tagged = tagged;
    return node === previous;
  }

  #sameFields(value: Fields, previous: JsonObject, end: number, depth: number): boolean {
    const names = this.#names;
    const fields = this.#fields;
    const { holders, steps } = this.#encoder.trail;
    const base = this.#top;
    this.#top = end;
    holders[depth] = value;
    let index = base;
    let same = true;
    for (const name in previous) {
      same = index < end && names[index] === name;
      if (!same) break;
      const field = fields[index++];
      const before = previous[name];
      if (Object.is(field, before)) continue;
      steps[depth] = name;
      same = this.#same(field, before, depth + 1);
      if (!same) break;
    }
    this.#top = base;
    return same && index === end;
  }

  /**
   * Writes the names and values of an object onto the stack without raising it, and returns the height it would have;
   * −1 if a name is "$" and `literal` is false. With both on the stack, comparing needs no lookup by name: a walk over
   * an object's own names is the fastest way to its values.
   */
  unfold(value: Fields, literal: boolean): number {
    const names = this.#names;
    const fields = this.#fields;
    let end = this.#top;
    for (const name in value) {
      if (name === "$" && !literal) return -1;
      names[end] = name;
      fields[end++] = value[name];
    }
    return end;
  }

  /** Tells whether the names written onto the stack are those of a node, in the same order. */
  sameNames(previous: JsonObject, end: number): boolean {
    let index = this.#top;
    for (const name in previous) if (index === end || this.#names[index++] !== name) return false;
    return index === end;
  }

  /** Raises the stack to `end` and returns its previous height, to lower it again. */
  raise(end: number): number {
    const base = this.#top;
    this.#top = end;
    return base;
  }

  nameAt(index: number): string {
    return this.#names[index] as string;
  }

  fieldAt(index: number): unknown {
    return this.#fields[index];
  }
}
