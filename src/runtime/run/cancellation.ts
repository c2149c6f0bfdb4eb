/** The longest a timer can be set for: beyond it, it would fire at once. */
export const LONGEST: number = 2 ** 31 - 1;

/**
 * An abort that thousands of tasks can wait for and stop waiting for: listeners are taken off again, so that a long run
 * does not collect them.
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

  /** Calls the listener once, at once if it has happened already. Returns how to stop listening. */
  onCancel(listener: (reason: unknown) => void): () => void {
    if (this.cancelled) {
      listener(this.reason);
      return () => {};
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Cancelled when the given signal is aborted. Returns how to part from it. */
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

  /** Waits, but not past a cancellation. */
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
