import { type Delta, sizeOf } from "../../../codec/delta/index.ts";
import type { Json, JsonObject } from "../../../codec/json.ts";
import { jsonText, REFERENCE_BYTES } from "../../../codec/json-text.ts";
import { isReference } from "../../../codec/references.ts";
import { isStateReference } from "../../../codec/state-references.ts";
import { assign } from "../../../platform/plain-objects.ts";

/** Finds the reference for a large value, or undefined where it has to stay in its place. */
export interface Naming {
  string(text: string): Json | undefined;
  /** `json` is the text of an object or a list. */
  container(json: string): Json | undefined;
}

/**
 * Replaces the large values of a change by references: strings, lists of numbers, and objects and lists that are elements
 * of a list, or inside one. Other objects and lists of a state grow, and are not worth a name. Of nested values the
 * innermost is taken, so that it is found again in a task's write and in the checkpoint that follows, whatever is around
 * it. The given nodes stay unchanged.
 */
export class LargeParts {
  readonly #from: number;
  readonly #naming: Naming;
  /** How many references were made, or met. */
  #references = 0;
  /** About how many characters the node takes that was looked at last. */
  #size = 0;

  constructor(from: number, naming: Naming) {
    this.#from = from;
    this.#naming = naming;
  }

  /** Replaces the values that a change writes. Text that is added to a string stays: no new value is made of it. */
  inDelta(delta: Delta, inList = false): Delta {
    let copy: Delta | undefined;
    const change = <Letter extends keyof Delta>(letter: Letter, value: Delta[Letter]): void => {
      if (value === delta[letter]) return;
      copy ??= { ...delta };
      copy[letter] = value;
    };
    const { r, s, d, e, x, p } = delta;
    if (r !== undefined) change("r", this.inValue(r, inList));
    if (s !== undefined)
      change(
        "s",
        this.#fields(s, (value) => this.inValue(value, inList)),
      );
    if (d !== undefined)
      change(
        "d",
        this.#fields(d, (inner) => this.inDelta(inner, inList)),
      );
    if (e !== undefined) {
      const edits = e.map((edit): typeof edit => {
        const inner = this.inDelta(edit[1], true);
        return inner === edit[1] ? edit : [edit[0], inner];
      });
      change("e", isSame(edits, e) ? e : edits);
    }
    if (x !== undefined) {
      const splices = x.map((splice): typeof splice => {
        const [start, removed, ...items] = splice;
        const now = this.#items(items);
        return now === items ? splice : [start, removed, ...now];
      });
      change("x", isSame(splices, x) ? x : splices);
    }
    if (p !== undefined) change("p", this.#items(p));
    return copy ?? delta;
  }

  /** Replaces a value, or the large values inside. `inList`: it does not grow. */
  inValue(value: Json, inList: boolean): Json {
    if (typeof value === "string") return this.#string(value);
    if (typeof value !== "object" || value === null) {
      this.#size = sizeOf(value, Number.POSITIVE_INFINITY);
      return value;
    }
    if (isReference(value) || isStateReference(value)) {
      this.#references += 1;
      this.#size = REFERENCE_BYTES;
      return value;
    }
    const before = this.#references;
    const now = Array.isArray(value) ? this.#elements(value) : this.#members(value, inList);
    if (this.#references > before || this.#size < this.#from || !(inList || isOfNumbers(value))) return now;
    return this.#made(this.#naming.container(jsonText(value))) ?? value;
  }

  #string(text: string): Json {
    this.#size = text.length + 2;
    if (this.#size < this.#from) return text;
    return this.#made(this.#naming.string(text)) ?? text;
  }

  #made(reference: Json | undefined): Json | undefined {
    if (reference === undefined) return undefined;
    this.#references += 1;
    this.#size = REFERENCE_BYTES;
    return reference;
  }

  #elements(list: Json[]): Json[] {
    let copy: Json[] | undefined;
    let size = 2;
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index] as Json;
      const now = this.inValue(item, true);
      size += this.#size + 1;
      if (now === item) continue;
      copy ??= list.slice();
      copy[index] = now;
    }
    this.#size = size;
    return copy ?? list;
  }

  #members(node: JsonObject, inList: boolean): JsonObject {
    let size = 2;
    const now = this.#fields(node, (value, key) => {
      const member = this.inValue(value, inList);
      size += key.length + 4 + this.#size;
      return member;
    });
    this.#size = size;
    return now;
  }

  #items(items: Json[]): Json[] {
    const now = items.map((item) => this.inValue(item, true));
    return isSame(now, items) ? items : now;
  }

  #fields<Value>(
    fields: { [key: string]: Value },
    change: (value: Value, key: string) => Value,
  ): { [key: string]: Value } {
    let copy: { [key: string]: Value } | undefined;
    for (const key of Object.keys(fields)) {
      const value = fields[key] as Value;
      const now = change(value, key);
      if (now === value) continue;
      copy ??= { ...fields };
      assign(copy, key, now);
    }
    return copy ?? fields;
  }
}

/**
 * Returns the JSON of a change, or of what a task wrote, that takes less than `from` characters, and so has no large value; else
 * undefined. The text of a large value is not made: `size` tells how long the values are, about; else they are measured.
 */
export function shortText(value: Json, from: number, size: number = sizeOf(value, from)): string | undefined {
  if (size >= from) return undefined;
  const json = jsonText(value);
  return json.length < from ? json : undefined;
}

function isOfNumbers(value: Json[] | JsonObject): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "number");
}

/**
 * Returns about how many characters a tree takes, of a large string that `isStored` only as many as make it large.
 */
export function storedSize(tree: Json, from: number, isStored: (text: string) => boolean): number {
  if (typeof tree === "string") {
    return tree.length + 2 >= from && isStored(tree) ? from : tree.length + 2;
  }
  if (typeof tree !== "object" || tree === null) return sizeOf(tree, Number.POSITIVE_INFINITY);
  let size = 2;
  if (Array.isArray(tree)) for (const item of tree) size += 1 + storedSize(item, from, isStored);
  else for (const key of Object.keys(tree)) size += key.length + 4 + storedSize(tree[key] as Json, from, isStored);
  return size;
}

function isSame(now: readonly unknown[], before: readonly unknown[]): boolean {
  return now.every((item, index) => item === before[index]);
}
