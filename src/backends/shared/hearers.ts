/**
 * The callbacks of a backend's `hear`. The means of hearing others are started with the first callback, and stopped after
 * the last.
 */
export class Hearers {
  readonly #callbacks = new Set<() => void>();
  readonly #start: ((tell: () => void) => () => void) | undefined;
  #stop: (() => void) | undefined;

  /** Takes a function that starts to call `tell` when others commit, and returns how to stop it; none where there are none. */
  constructor(start?: (tell: () => void) => () => void) {
    this.#start = start;
  }

  hear(callback: () => void): () => void {
    // Wrapped, since one function may be passed twice.
    const own = (): void => callback();
    this.#callbacks.add(own);
    if (this.#callbacks.size === 1) this.#stop = this.#start?.(() => this.tell());
    return () => {
      if (this.#callbacks.delete(own) && this.#callbacks.size === 0) this.stop();
    };
  }

  get any(): boolean {
    return this.#callbacks.size > 0;
  }

  tell(): void {
    for (const callback of this.#callbacks) callback();
  }

  stop(): void {
    this.#callbacks.clear();
    this.#stop?.();
    this.#stop = undefined;
  }
}
