/** The watches of a store, as far as its commits and its end concern them. */
export class Watches {
  readonly #callbacks = new Set<() => void>();
  readonly #starting = new Set<Promise<unknown>>();
  /** Settles when all watches that are about to begin have found where; undefined for none. Commits wait for it. */
  starting: Promise<unknown> | undefined;

  /** Has commits wait until a watch has found where it begins. */
  begin(found: Promise<unknown>): void {
    const settled: Promise<void> = found.then(
      () => this.#began(settled),
      () => this.#began(settled),
    );
    this.#starting.add(settled);
    this.starting = Promise.all(this.#starting);
  }

  #began(settled: Promise<unknown>): void {
    this.#starting.delete(settled);
    this.starting = this.#starting.size === 0 ? undefined : Promise.all(this.#starting);
  }

  /** Calls back after every commit of this store and when the store is closed, until the returned function is called. */
  add(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  tell(): void {
    for (const callback of this.#callbacks) callback();
  }
}
