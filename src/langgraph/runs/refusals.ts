import type { RunnableConfig } from "@langchain/core/runnables";
import type { Address } from "../mapping/address.ts";
import { hasNoTaskAtWork, isRun } from "./run-config.ts";

/**
 * With durability "async" LangGraph looks at the promises of its saver only when a run ends. A promise that is rejected
 * earlier is an unhandled rejection, which ends the process whatever is around `invoke`. So the promises of puts, which
 * LangGraph chains, are rejected only once the run waits for them, and those of writes count as handled.
 */

/** Milliseconds between two looks at whether a run waits for its saver. */
const interval = 20;
/** The looks in a row at which a run must seem to wait: between two steps it does for a moment. */
const confirmations = 2;
/** The most looks at a run, ten minutes of them: a run that leaves listeners behind would be waited for without end. */
const mostLooks = 600_000 / interval;

interface Refusal {
  readonly error: unknown;
  /** Called when the run has been told of the error. */
  readonly heard: () => void;
}

/** Holds the errors of refused checkpoints until their runs have been told. */
export class Refusals {
  readonly #refusals = new Map<string, Refusal>();

  /**
   * Passes on the outcome of a put. A failure is held back until the run has no task at work, and so waits for its saver, or
   * until {@link check} has thrown it: then the run has failed already, and the promise is fulfilled.
   */
  async hold(address: Address, config: RunnableConfig, put: Promise<RunnableConfig>): Promise<RunnableConfig> {
    try {
      return await put;
    } catch (error) {
      const waits = (): boolean | undefined => hasNoTaskAtWork(config, address.namespace);
      if (!isRun(config) || waits() === undefined || !(await this.#told(keyOf(address), error, waits))) throw error;
      return config;
    }
  }

  /** Throws the held-back error of this checkpoint's put, if there is one. */
  check(address: Address): void {
    const refusal = this.#refusals.get(keyOf(address));
    if (refusal === undefined) return;
    refusal.heard();
    throw refusal.error;
  }

  /** Waits until a run is told of a failure, or waits for its saver. Returns whether it was told. */
  #told(key: string, error: unknown, waits: () => boolean | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      let inRow = 0;
      let looks = 0;
      const settle = (told: boolean): void => {
        clearInterval(timer);
        this.#refusals.delete(key);
        resolve(told);
      };
      const timer = setInterval(() => {
        inRow = waits() === true ? inRow + 1 : 0;
        looks += 1;
        if (inRow >= confirmations || looks >= mostLooks) settle(false);
      }, interval);
      this.#refusals.set(key, { error, heard: () => settle(true) });
    });
  }
}

function keyOf({ thread, namespace, checkpoint }: Address): string {
  return JSON.stringify([thread, namespace, checkpoint]);
}

/** A promise that makes rejections of promises chained to it count as handled. */
class Handled<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, and only what is chained to it differs.
  override then<Result = T, Failure = never>(
    onFulfilled?: ((value: T) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    const next = super.then(onFulfilled, onRejected);
    next.catch(() => undefined);
    return next;
  }
}

/** Returns a promise for a run, which chains another promise to it and looks at that when it ends. */
export function handledByRun<T>(promise: Promise<T>): Promise<T> {
  return new Handled((resolve) => resolve(promise));
}
