import { same } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { GrownList } from "../../../model/interface/grown-list.ts";

/** A {@link GrownList} whose rest is encoded. */
export class CapturedGrownList {
  readonly #start: readonly Json[];
  readonly #count: number;
  readonly #rest: readonly Json[];
  #whole: Json[] | undefined;

  constructor({ start, count }: GrownList, rest: readonly Json[]) {
    this.#start = start as readonly Json[];
    this.#count = count;
    this.#rest = rest;
  }

  get length(): number {
    return this.#count + this.#rest.length;
  }

  whole(): Json[] {
    this.#whole ??= this.#from(0);
    return this.#whole;
  }

  /**
   * Returns the elements that come behind those of another list; undefined if the list does not begin with them. Nodes of the other
   * list that are equal to those at the start are replaced by them, so that the next look finds identical ones.
   */
  behind(list: Json[]): Json[] | undefined {
    const { length } = list;
    if (length > this.#count) return undefined;
    const start = this.#start;
    for (let index = 0; index < length; index += 1) {
      // Comparing nodes as objects is twice as fast as by Object.is.
      const [node, known] = [list[index] as object, start[index] as object];
      if (node === known) continue;
      if (Object.isFrozen(list) || !same(node as Json, known as Json)) return undefined;
      list[index] = known as Json;
    }
    return this.#from(length);
  }

  #from(index: number): Json[] {
    return [...this.#start.slice(index, this.#count), ...this.#rest];
  }
}
