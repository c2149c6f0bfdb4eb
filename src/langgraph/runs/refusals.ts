import type { RunnableConfig } from "@langchain/core/runnables";
import type { Address } from "../mapping/address.ts";
import { hasNoTaskAtWork, isRun } from "./run-config.ts";

/**
 * Refused saves of runs. With durability "async" LangGraph looks at the promises of its saver when a run ends, and one that is
 * rejected before that is a rejection nobody handles: it ends the process, whatever is around `invoke`. So a promise that
 * LangGraph chains itself is rejected once the run listens, and the others count as handled.
 */

/** How often it is looked whether a run waits for its saver, in milliseconds. */
const interval = 20;
/** How often in a row a run has to look so: between two steps one does for a moment. */
const confirmations = 2;
/** So that a run which leaves listeners behind waits for ten minutes, and not for ever. */
const mostLooks = 600_000 / interval;

interface Refusal {
  readonly error: unknown;
  /** Tells that the run knows. */
  readonly heard: () => void;
}

/** Checkpoints that were refused, while their runs have not heard of it. */
export class Refusals {
  readonly #refusals = new Map<string, Refusal>();

  /**
   * Gives on what became of a put. A failure waits until the run has none of its tasks at work, and so waits for its saver, or
   * until {@link check} has told it: then it has failed already, and the promise is fulfilled.
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

  /** Throws what a put of this checkpoint failed with. */
  check(address: Address): void {
    const refusal = this.#refusals.get(keyOf(address));
    if (refusal === undefined) return;
    refusal.heard();
    throw refusal.error;
  }

  /** Waits until a run was told of a failure, or waits for its saver; returns whether it was told. */
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

/** A promise whose rejection counts as handled in whatever is chained to it: somebody looks at that later. */
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

/** A promise for a run, which keeps what it chains to it and looks at all of them when it ends. */
export function handledByRun<T>(promise: Promise<T>): Promise<T> {
  return new Handled((resolve) => resolve(promise));
}
