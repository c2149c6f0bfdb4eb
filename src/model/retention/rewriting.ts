/** A removal writes up to this many bytes anew, however little it removes. */
export const SMALL_REWRITE: number = 16 * 1024;

/** The bytes at stake when rows are taken out of storage, about. */
export interface RewriteCost {
  /** The rows that go. */
  readonly removed: number;
  /** The frames to write for rows that lose the frame they build on: full ones, or with the changes of the frames that go. */
  readonly frames: number;
  /** The records to write again as long as they are: rows behind those that go, and the rest of their packs. */
  readonly moved: number;
  /**
   * The cost of hidden rows so far: ranges of their seqs in the meta record, written at each removal that has led to so many, and a byte for
   * each time that a removal looks at one.
   */
  readonly hiding: number;
}

/**
 * Returns true if taking rows out of storage frees as much as it writes: else they are hidden, until enough of them have come together.
 * So a thread that is pruned after every step writes about as much for it as its steps do, and hidden rows take
 * no more than twice the frames that stand in their place, and what is kept beside them.
 */
export function isWorthRewriting(cost: RewriteCost, small: number = SMALL_REWRITE): boolean {
  const { removed, frames, moved, hiding } = cost;
  const written = frames + moved;
  return written <= small || removed - frames + hiding >= written;
}
