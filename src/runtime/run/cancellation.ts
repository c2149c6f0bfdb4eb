/** The longest delay of a timer in milliseconds; a longer one would fire at once. */
export const LONGEST: number = 2 ** 31 - 1;

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

  /** Waits for some time, or until cancelled. */
  async sleep(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, Math.min(milliseconds, LONGEST));
      let stop = (): void => {};
      stop = this.onCancel(done);
    });
  }
}
