/** A removal writes full frames of up to this many bytes anew, however little it removes. */
export const SMALL_FRAMES: number = 16 * 1024;

/** The bytes at stake when rows are taken out of storage, about. */
export interface RewriteCost {
  /** The rows that go, apart from full frames: writing one of those anew frees nothing. */
  readonly removed: number;
  /** The full frames to write for rows that lose the frame they build on. */
  readonly written: number;
}

/**
 * Returns true if taking rows out of storage is worth the full frames that it writes: else they are hidden, until enough of
 * them have come together. So a thread that is pruned after every step writes about as much for it as its steps do.
 */
export function isWorthRewriting({ removed, written }: RewriteCost, small: number = SMALL_FRAMES): boolean {
  return written <= small || removed >= written;
}
