import { ThreadmarkError } from "../errors.ts";

/** The greatest seq that a put can get: keys of records have 32 bits, and the seq after the last one is asked for, too. */
const LAST_SEQ: number = 2 ** 32 - 2;

/** The greatest seq that a bundle may bring: it leaves room for two thousand million puts. */
export const LAST_IMPORTED_SEQ: number = 2 ** 31 - 1;

/** Returns the seq of the next commit of a thread. */
export function seqAfter(seq: number, thread: string): number {
  if (seq < LAST_SEQ) return seq + 1;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `Thread ${JSON.stringify(thread)} has given out all ${LAST_SEQ} seqs that a thread can have. Go on in another thread.`,
    { thread },
  );
}

/** Returns the first index whose seq is at least `seq`. */
export function lowerBound<T>(entries: readonly T[], seq: number, seqOf: (entry: T) => number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (seqOf(entries[middle] as T) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
