import { systemTimer, type Timer } from "./clock.ts";

/**
 * An abort signal whose listeners are removed one by one, so that thousands of tasks can wait for it without a long run
 * collecting listeners.
 */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #listeners = new Set<(reason: unknown) => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  cancel(reason: unknown): void {
    if (this.cancelled) return;
    this.#controller.abort(reason);
    for (const listener of [...this.#listeners]) listener(reason);
  }

  /** Calls the listener on cancellation, immediately if that has happened. Returns a function that removes the listener. */
  onCancel(listener: (reason: unknown) => void): () => void {
    if (this.cancelled) {
      listener(this.reason);
      return () => {};
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Cancels when the given signal is aborted. Returns a function that stops following it. */
  follow(signal: AbortSignal | undefined): () => void {
    if (signal === undefined) return () => {};
    if (signal.aborted) {
      this.cancel(signal.reason);
      return () => {};
    }
    const abort = (): void => this.cancel(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  }

  /** Waits for a promise, but not past a cancellation: then it rejects with the reason. */
  during<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.onCancel(reject);
      promise.then(resolve, reject).finally(stop);
    });
  }

  /** Waits for some time, or until cancelled. */
  async sleep(milliseconds: number, timer: Timer = systemTimer): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clear();
        stop();
        resolve();
      };
      const clear = timer(milliseconds, done);
      let stop = (): void => {};
      stop = this.onCancel(done);
    });
  }
}
