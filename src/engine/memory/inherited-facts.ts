import { ByteCache } from "./byte-cache.ts";
import type { Tape } from "./tape.ts";

/** About what an entry takes besides its text. */
const ENTRY_WEIGHT = 100;

const rootAlone: ReadonlySet<string> = new Set([""]);

/**
 * Remembers facts about nested forks that are expensive to find and small to keep: the length of the line up to where a
 * fork begins, and the namespaces that a fork may have inherited.
 *
 * Invariant: an entry holds for as long as its key names the same rows. The line up to a row changes only where rows
 * are rewritten or a compaction writes other parents down, and both are counted in the meta record.
 */
export class InheritedFacts {
  readonly #lengths: ByteCache<string, number>;
  readonly #namespaces: ByteCache<string, ReadonlySet<string>>;

  constructor(bytes: number) {
    this.#lengths = new ByteCache(bytes / 2);
    this.#namespaces = new ByteCache(bytes / 2);
  }

  /** Returns the number of rows from this row of a tape to its root, if known. */
  lengthAt(home: Tape, seq: number): number | undefined {
    return this.#lengths.get(lineKey(home, seq));
  }

  keepLength(home: Tape, seq: number, length: number): void {
    const key = lineKey(home, seq);
    this.#lengths.set(key, length, key.length + ENTRY_WEIGHT);
  }

  /** Returns the namespaces of the tapes that a fork builds on, if known. */
  namespacesOf(fork: Tape): ReadonlySet<string> | undefined {
    return this.#namespaces.get(fork.name);
  }

  keepNamespaces(fork: Tape, namespaces: ReadonlySet<string>): ReadonlySet<string> {
    const kept = namespaces.size === 1 && namespaces.has("") ? rootAlone : namespaces;
    let bytes = ENTRY_WEIGHT;
    if (kept !== rootAlone) for (const namespace of kept) bytes += ENTRY_WEIGHT + namespace.length;
    this.#namespaces.set(fork.name, kept, bytes);
    return kept;
  }

  clear(): void {
    this.#lengths.clear();
    this.#namespaces.clear();
  }
}

function lineKey(home: Tape, seq: number): string {
  const { rewrites, folds = 0 } = home.meta;
  return `${home.name}:${seq}:${rewrites}:${folds}`;
}
