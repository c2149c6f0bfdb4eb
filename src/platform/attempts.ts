import { timers } from "./node-builtins.ts";

// Captured now: a test may replace the global timers by a clock that stands still while something is awaited.
const { setTimeout: afterTime } = timers;

/** An operation that others keep overtaking ends after this many milliseconds. */
export const PATIENCE = 30_000;

/** The largest window, in milliseconds, from which a pause is drawn. */
const LARGEST_WINDOW = 256;

/**
 * Estimates how much others are in the way, as the window from which pauses are drawn: it doubles with every attempt that
 * was overtaken and halves with every success. A winner keeps its window, so that it makes room for those that lost.
 */
export class Contention {
  #window = 0;

  /** Returns whether others were in the way lately. A pause, and a look at their changes, then come before an attempt. */
  get isHigh(): boolean {
    return this.#window >= 1;
  }

  overtaken(): void {
    this.#window = Math.min(Math.max(2 * this.#window, 1), LARGEST_WINDOW);
  }

  succeeded(): void {
    this.#window /= 2;
  }

  /** Waits for a random part of the window: shorter after more overtaken attempts, so that the longest wait goes first. */
  async pause(overtaken = 0): Promise<void> {
    const time = (Math.random() * this.#window) / (overtaken + 1);
    if (time >= 1) await new Promise<void>((resolve) => afterTime(resolve, time));
  }
}

/** Paces the attempts of one operation, and ends them by time rather than by their number. */
export class Attempts {
  readonly #contention: Contention;
  readonly #since = performance.now();
  #overtaken = 0;

  constructor(contention: Contention = new Contention()) {
    this.#contention = contention;
  }

  /** Notes that an attempt was overtaken and pauses. Resolves to false when the time is up. */
  async again(): Promise<boolean> {
    this.#contention.overtaken();
    this.#overtaken += 1;
    if (performance.now() - this.#since >= PATIENCE) return false;
    await this.#contention.pause(this.#overtaken);
    return true;
  }
}
