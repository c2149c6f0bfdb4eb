/** Chunks split in two beyond this length: the cost of one insert is a move of at most so many references. */
const chunkLimit = 512;

/**
 * Entries in order, in chunks of a few hundred, so that an insert anywhere stays cheap at a million entries.
 * `Probe` is the part of an entry that the order looks at: a key to look for is a probe.
 */
export class Sorted<Probe, Entry extends Probe> {
  readonly #compare: (a: Probe, b: Probe) => number;
  /** No chunk is empty, and each chunk's last entry comes before the next chunk's first. */
  readonly #chunks: Entry[][] = [];

  constructor(compare: (a: Probe, b: Probe) => number) {
    this.#compare = compare;
  }

  get empty(): boolean {
    return this.#chunks.length === 0;
  }

  find(probe: Probe): Entry | undefined {
    const chunk = this.#chunks[this.#chunkFor(probe)];
    if (chunk === undefined) return undefined;
    const entry = chunk[this.#indexIn(chunk, probe)];
    return entry !== undefined && this.#compare(entry, probe) === 0 ? entry : undefined;
  }

  /** Adds an entry, or takes the place of the one that compares equal. */
  set(entry: Entry): void {
    const at = Math.min(this.#chunkFor(entry), Math.max(this.#chunks.length - 1, 0));
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      return;
    }
    const index = this.#indexIn(chunk, entry);
    const present = chunk[index];
    if (present !== undefined && this.#compare(present, entry) === 0) {
      chunk[index] = entry;
      return;
    }
    chunk.splice(index, 0, entry);
    if (chunk.length <= chunkLimit) return;
    // Appending leaves full chunks behind it; an insert in the middle leaves two halves.
    const cut = index === chunk.length - 1 && at === this.#chunks.length - 1 ? chunkLimit : chunkLimit / 2;
    this.#chunks.splice(at + 1, 0, chunk.splice(cut));
  }

  /** Removes all entries from `low` to `high`, both included. */
  delete(low: Probe, high: Probe): void {
    const first = this.#chunkFor(low);
    let emptied = 0;
    for (let at = first; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as Entry[];
      const start = this.#indexIn(chunk, low);
      let end = start;
      while (end < chunk.length && this.#compare(chunk[end] as Entry, high) <= 0) end++;
      const reachedEnd = end === chunk.length;
      chunk.splice(start, end - start);
      if (chunk.length === 0) emptied++;
      if (!reachedEnd) break;
    }
    if (emptied > 0) this.#dropEmpty(first, emptied);
  }

  /** Entries from `low` on, in order. */
  *from(low: Probe): Generator<Entry> {
    let at = this.#chunkFor(low);
    let chunk = this.#chunks[at];
    let index = chunk === undefined ? 0 : this.#indexIn(chunk, low);
    while (chunk !== undefined) {
      for (; index < chunk.length; index++) yield chunk[index] as Entry;
      index = 0;
      chunk = this.#chunks[++at];
    }
  }

  /** Entries from `high` down, in reverse order. */
  *downFrom(high: Probe): Generator<Entry> {
    let at = Math.min(this.#chunkFor(high), this.#chunks.length - 1);
    let chunk = this.#chunks[at];
    if (chunk === undefined) return;
    let index = this.#indexIn(chunk, high);
    const entry = chunk[index];
    if (entry === undefined || this.#compare(entry, high) > 0) index--;
    while (chunk !== undefined) {
      for (; index >= 0; index--) yield chunk[index] as Entry;
      chunk = this.#chunks[--at];
      index = (chunk?.length ?? 0) - 1;
    }
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  /** The first chunk whose last entry is not before `probe`; the number of chunks when there is none. */
  #chunkFor(probe: Probe): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = this.#chunks[middle] as Entry[];
      if (this.#compare(chunk[chunk.length - 1] as Entry, probe) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first index in `chunk` whose entry is not before `probe`. */
  #indexIn(chunk: readonly Entry[], probe: Probe): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(chunk[middle] as Entry, probe) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Emptied chunks lie side by side, except that the first touched one may have kept its head. */
  #dropEmpty(first: number, count: number): void {
    const start = this.#chunks[first]?.length === 0 ? first : first + 1;
    this.#chunks.splice(start, count);
  }
}
