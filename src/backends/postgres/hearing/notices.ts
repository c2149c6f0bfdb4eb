/** Milliseconds between two notices of a store. */
const pause = 1000;

/**
 * Decides which commits notify listeners. A server lets transactions that notify commit one after the other, so that few of them
 * should: one a second for each store, among those that write to the log. Listeners look often for longer than that after each.
 *
 * Invariant: a commit without a line of the log follows one with a line, of the same store, by about a second at most.
 */
export class Notices {
  readonly #channel: string;
  #last = Number.NEGATIVE_INFINITY;

  constructor(channel: string) {
    this.#channel = channel;
  }

  /** Returns the channel to notify with the next lines of the log; undefined if listeners know already. */
  due(): string | undefined {
    return performance.now() - this.#last > pause ? this.#channel : undefined;
  }

  /** Notes that a commit with a notice was applied. */
  sent(): void {
    this.#last = performance.now();
  }
}
