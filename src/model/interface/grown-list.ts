/**
 * A list for `set` of an update, as an adapter gives it that keeps the start of the list from one checkpoint to the next: where the
 * parent's list begins with the very same nodes, the update appends the others.
 *
 * Invariant: the first `count` elements of `start` are plain JSON, frozen to their leaves, and stay in their places.
 */
export class GrownList {
  readonly start: readonly unknown[];
  readonly count: number;
  /** The elements after those, of any kind that can be stored. */
  readonly rest: readonly unknown[];

  constructor(start: readonly unknown[], count: number, rest: readonly unknown[]) {
    this.start = start;
    this.count = count;
    this.rest = rest;
  }
}
