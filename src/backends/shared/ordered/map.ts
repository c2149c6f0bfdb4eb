/** A longer block is split: at most this many references move for one insert. */
const blockLimit = 256;

/**
 * A list of entries in the order of `compare`, in blocks, so that inserts in the middle of a long list stay cheap. A
 * `Probe` is the part of an entry that `compare` uses.
 */
export class Ordered<Probe, Entry extends Probe> {
  readonly #compare: (a: Probe, b: Probe) => number;
  /** Invariant: no block is empty, and every entry of a block comes before those of the next block. */
  readonly #blocks: Entry[][] = [];

  constructor(compare: (a: Probe, b: Probe) => number) {
    this.#compare = compare;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  get(probe: Probe): Entry | undefined {
    const [block, index] = this.#locate(probe);
    const entry = this.#blocks[block]?.[index];
    return entry !== undefined && this.#compare(entry, probe) === 0 ? entry : undefined;
  }

  /** Adds an entry; returns the entry that it replaces, if any. */
  set(entry: Entry): Entry | undefined {
    const last = this.#blocks.at(-1);
    if (last === undefined) {
      this.#blocks.push([entry]);
      return undefined;
    }
    if (this.#compare(last.at(-1) as Entry, entry) < 0) {
      // Most entries arrive in order and leave full blocks behind.
      if (last.length < blockLimit) last.push(entry);
      else this.#blocks.push([entry]);
      return undefined;
    }
    const [at, index] = this.#locate(entry);
    const block = this.#blocks[at] as Entry[];
    const present = block[index];
    if (present !== undefined && this.#compare(present, entry) === 0) {
      block[index] = entry;
      return present;
    }
    block.splice(index, 0, entry);
    if (block.length > blockLimit) this.#blocks.splice(at + 1, 0, block.splice(blockLimit >> 1));
    return undefined;
  }

  /** Removes and returns the entries from `low` to `high`, both included. */
  remove(low: Probe, high: Probe): Entry[] {
    const removed: Entry[] = [];
    const [first, start] = this.#locate(low);
    let at = first;
    let from = start;
    while (at < this.#blocks.length) {
      const block = this.#blocks[at] as Entry[];
      let to = from;
      while (to < block.length && this.#compare(block[to] as Entry, high) <= 0) to++;
      const reachesOn = to === block.length;
      removed.push(...block.splice(from, to - from));
      if (block.length === 0) this.#blocks.splice(at, 1);
      else at++;
      from = 0;
      if (!reachesOn) break;
    }
    return removed;
  }

  *upFrom(low: Probe): Generator<Entry> {
    let [at, index] = this.#locate(low);
    for (; at < this.#blocks.length; at++, index = 0) {
      const block = this.#blocks[at] as Entry[];
      for (; index < block.length; index++) yield block[index] as Entry;
    }
  }

  *downFrom(high: Probe): Generator<Entry> {
    let [at, index] = this.#locate(high);
    const entry = this.#blocks[at]?.[index];
    if (entry === undefined || this.#compare(entry, high) > 0) index--;
    for (; at >= 0; at--, index = (this.#blocks[at]?.length ?? 0) - 1) {
      const block = this.#blocks[at];
      for (; block !== undefined && index >= 0; index--) yield block[index] as Entry;
    }
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (const block of this.#blocks) yield* block;
  }

  /** Returns the position of the first entry that is not before `probe`. */
  #locate(probe: Probe): [block: number, index: number] {
    const block = firstIndex(this.#blocks, (entries) => this.#compare(entries.at(-1) as Entry, probe) >= 0);
    const index = firstIndex(this.#blocks[block] ?? [], (entry) => this.#compare(entry, probe) >= 0);
    return [block, index];
  }
}

/** Returns the first index whose item passes a test that all later items pass too; the length when none does. */
function firstIndex<Item>(items: readonly Item[], passes: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(items[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
