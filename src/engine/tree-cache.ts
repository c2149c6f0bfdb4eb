import type { Json } from "../codec/json.ts";
import { ByteCache } from "./cache.ts";

/** A checkpoint's body as one tree: what goes through the delta codec. */
export interface Body {
  readonly [part: string]: Json;
  /** The state. */
  readonly s: Json;
  /** path, next, completed, interrupts, barriers. */
  readonly p: Json;
  readonly n: Json;
  readonly c: Json;
  readonly i: Json;
  readonly b: Json;
}

/** Counts the captured inputs that wait to be committed and share nodes with a tree. */
export interface Loan {
  count: number;
}

/**
 * A private tree. No two entries, and nobody outside, share any of its objects, so it may be changed in place, except
 * while it is on loan: then an input that was captured against it, and shares nodes with it, waits to be committed.
 */
export interface TreeEntry {
  tree: Json;
  tagged: boolean;
  /** Bytes that have to be read to build the tree: the last full frame and the deltas since. */
  weight: number;
  /** Bytes of the tree's JSON when it was last measured; 0 if never. */
  size: number;
  /** How many tapes those bytes are spread over. */
  hops: number;
  loan: Loan;
}

/** The part of a tape that, with a seq, names a tree. */
interface Home {
  readonly number: number;
  readonly meta: { readonly folds?: number };
}

function nameOf({ number, meta }: Home, seq: number): string {
  return `${number}:${meta.folds ?? 0}:${seq}`;
}

/**
 * Trees of recent heads. A frame's address is never reused, and its content changes only when a compaction folds a
 * replacement in, which is counted: so an entry is never stale.
 */
export class TreeCache {
  readonly #entries: ByteCache<string, TreeEntry>;

  constructor(limit: number) {
    this.#entries = new ByteCache(limit);
  }

  get(tape: Home, seq: number): TreeEntry | undefined {
    return this.#entries.get(nameOf(tape, seq));
  }

  set(tape: Home, seq: number, entry: TreeEntry): void {
    // A parsed tree takes about twice the bytes of its JSON.
    this.#entries.set(nameOf(tape, seq), entry, 2 * Math.max(entry.weight, entry.size) + 500);
  }

  delete(tape: Home, seq: number): void {
    this.#entries.delete(nameOf(tape, seq));
  }

  clear(): void {
    this.#entries.clear();
  }
}
