import { ThreadmarkError } from "../../../errors.ts";
import { announce } from "../../../platform/diagnostics.ts";
import { type SweptStore, sweepStore } from "./sweep.ts";
import { sweeperRecord } from "./sweeper.ts";

/** A store that was just opened looks after so many milliseconds whether a sweep is due; a short process never does. */
const FIRST_LOOK = 60_000;
/** The longest that a timer can be set for: beyond it, it would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Sweeps a store every so often, whichever of the processes that have it open finds it due first. */
export class SweepTimer {
  readonly #store: SweptStore;
  readonly #every: number;
  readonly #signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;

  /** Starts the timer, which `signal` ends, together with a sweep that is under way. */
  constructor(store: SweptStore, every: number, signal: AbortSignal) {
    this.#store = store;
    this.#every = every;
    this.#signal = signal;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
    // Processes that begin together do not look at the same moment.
    this.#after(Math.min(every, FIRST_LOOK) * (0.5 + Math.random() / 2));
  }

  #after(milliseconds: number): void {
    if (this.#signal.aborted) return;
    this.#timer = setTimeout(() => void this.#look(), Math.min(Math.max(1, milliseconds), LONGEST));
    // A timer of a browser is a number.
    if (typeof this.#timer === "object") this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { context } = this.#store;
    if (this.#signal.aborted || context.calls.closed) return;
    let wait = this.#every;
    try {
      wait = await context.calls.track(() => this.#sweepIfDue());
    } catch (error) {
      // Another process sweeps the store, or this one is being closed.
      const isExpected = this.#signal.aborted || ThreadmarkError.is(error, "BUSY", "FENCED");
      if (!isExpected) announce("sweep", { error });
    }
    this.#after(wait);
  }

  /** Resolves to the milliseconds until the next sweep is due. */
  async #sweepIfDue(): Promise<number> {
    const { context } = this.#store;
    const last = (await sweeperRecord(context))?.last?.at;
    const left = last === undefined ? 0 : last + this.#every - context.clock();
    if (left > 0) return Math.min(left, this.#every);
    await sweepStore(this.#store, { signal: this.#signal });
    return this.#every;
  }
}
