/**
 * The elements that a list shares with its previous version: those before `start`, the last `end`, and between them
 * `length` elements, now at `at` and previously at `from`.
 */
export interface Alignment {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  readonly from: number;
  readonly length: number;
}

/**
 * Aligns two lists whose first `start` elements are the same and whose next ones differ. Finds elements inserted,
 * removed or replaced in a single stretch, and a sliding window: elements dropped at one end and added at the other.
 * Compares at most about three times as many pairs as there are elements.
 */
export function alignLists(
  count: number,
  oldCount: number,
  start: number,
  same: (index: number, oldIndex: number) => boolean,
): Alignment {
  const shorter = Math.min(count, oldCount);
  let end = 0;
  while (start + end < shorter && same(count - 1 - end, oldCount - 1 - end)) end++;
  const stop = count - end;
  const oldStop = oldCount - end;
  let at = start;
  let from = start;
  if (start < stop && start < oldStop) {
    from = find(start + 1, oldStop, (oldIndex) => same(start, oldIndex));
    if (from === oldStop) {
      from = start;
      at = find(start + 1, stop, (index) => same(index, start));
    }
  }
  let length = 0;
  while (at + length < stop && from + length < oldStop && same(at + length, from + length)) length++;
  return { start, end, at, from, length };
}

/** Returns the first index in [from, to) that passes, else `to`. */
function find(from: number, to: number, passes: (index: number) => boolean): number {
  for (let index = from; index < to; index++) if (passes(index)) return index;
  return to;
}
