import type { Store } from "../../api/store.ts";

/** A pause after a change, in milliseconds, in which further changes are taken together. */
const TOGETHER = 120;

/** Tells when the store was changed, by any process. Watches only while somebody waits to be told. */
export class ChangeSignal {
  readonly #store: Store;
  readonly #waiting = new Set<() => void>();
  #ending: AbortController | undefined;
  /** Counts changes, so that one between two waits is not missed. */
  #count = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the number of changes seen so far, for {@link wait}. */
  get count(): number {
    return this.#count;
  }

  /** Waits for a change after the one with that number, at most so many milliseconds, or until the signal aborts. */
  async wait(after: number, most: number, signal: AbortSignal): Promise<void> {
    this.#begin();
    if (this.#count !== after || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, most);
      signal.addEventListener("abort", done);
      this.#waiting.add(done);
    });
  }

  close(): void {
    this.#ending?.abort();
    for (const done of [...this.#waiting]) done();
  }

  #begin(): void {
    if (this.#ending !== undefined) return;
    this.#ending = new AbortController();
    void this.#watch(this.#ending.signal);
  }

  /** Follows the store until the signal aborts. A store that cannot be watched is looked at now and then instead. */
  async #watch(signal: AbortSignal): Promise<void> {
    try {
      for await (const _change of this.#store.watch({ signal })) {
        this.#count += 1;
        if (this.#waiting.size === 0) continue;
        const told = [...this.#waiting];
        setTimeout(() => {
          for (const done of told) done();
        }, TOGETHER);
      }
    } catch {
      // The waits end by their time.
    }
  }
}
