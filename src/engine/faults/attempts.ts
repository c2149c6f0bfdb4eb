import { ThreadmarkError } from "../../errors.ts";
import { timers } from "../../platform/node-builtins.ts";
import { wasOvertaken } from "./overtaken.ts";

// As it is now: a test may replace the global one by a clock that nobody moves while something is awaited.
const { setTimeout: afterTime } = timers;

/** An operation that others keep overtaking ends after this many milliseconds. */
export const PATIENCE = 30_000;

/** No pause is drawn from more than this many milliseconds. */
const LARGEST_WINDOW = 256;

/**
 * Estimates how much others are in the way, as the window from which pauses are drawn: it doubles with every attempt that
 * was overtaken and halves with every success. A winner keeps its window, so that it makes room for those that lost.
 */
export class Contention {
  #window = 0;

  /** Whether others were in the way of late: then a pause, and a look at what they did, come before an attempt. */
  get isHigh(): boolean {
    return this.#window >= 1;
  }

  overtaken(): void {
    this.#window = Math.min(Math.max(2 * this.#window, 1), LARGEST_WINDOW);
  }

  succeeded(): void {
    this.#window /= 2;
  }

  /** Waits for a random part of the window; less, the more attempts were overtaken already: those that waited longest go first. */
  async pause(overtaken = 0): Promise<void> {
    const time = (Math.random() * this.#window) / (overtaken + 1);
    if (time >= 1) await new Promise<void>((resolve) => afterTime(resolve, time));
  }
}

/** The attempts of one operation: paced, and ended by time rather than by their number. */
export class Attempts {
  readonly #contention: Contention;
  readonly #since = performance.now();
  #overtaken = 0;

  constructor(contention: Contention = new Contention()) {
    this.#contention = contention;
  }

  /** Tells that an attempt was overtaken, and waits for a while. Resolves to false when the time is up. */
  async again(): Promise<boolean> {
    this.#contention.overtaken();
    this.#overtaken += 1;
    if (performance.now() - this.#since >= PATIENCE) return false;
    await this.#contention.pause(this.#overtaken);
    return true;
  }
}

/**
 * Runs an attempt until others do not overtake it, and throws BUSY when the time is up. `isStale` tells whether anything was
 * changed since the attempt began, and brings what is remembered up to date: see {@link wasOvertaken}.
 */
export async function untilUndisturbed<T>(
  thread: string,
  attempt: (again: boolean) => Promise<T>,
  isStale: () => Promise<boolean>,
): Promise<T> {
  let attempts: Attempts | undefined;
  for (;;) {
    try {
      return await attempt(attempts !== undefined);
    } catch (error) {
      if (!(await wasOvertaken(error, isStale))) throw error;
      attempts ??= new Attempts();
      if (!(await attempts.again())) throw neverRests(thread, "it was read");
    }
  }
}

/** Returns the error of an operation that others overtook for as long as it may take. */
export function neverRests(thread: string, during: string): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `Thread ${JSON.stringify(thread)} was changed by others again and again for ${PATIENCE / 1000} seconds while ${during}. Try again.`,
    { thread },
  );
}
