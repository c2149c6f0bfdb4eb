import { RecentMap } from "../../platform/recent-map.ts";

/** A read that takes longer than this, in milliseconds, is repeated only now and then. */
const SLOW = 20;
/** Results that are remembered. */
const MOST = 500;
/** A result is kept for this many times the time it took. */
const IDLE_FACTOR = 10;

/** Returns how long a result is kept that took so many milliseconds: looking again takes a tenth of the time at most. */
export function keptFor(took: number): number {
  return took * IDLE_FACTOR;
}

/** Remembers the results of reads that take long, as those of a thread with a large state. Quick ones are always read afresh. */
export class SlowReads<Result> {
  readonly #results = new RecentMap<string, { readonly result: Result; readonly until: number }>(MOST);

  async read(key: string, read: () => Promise<Result>): Promise<Result> {
    const known = this.#results.get(key);
    const started = performance.now();
    if (known !== undefined && started < known.until) return known.result;
    const result = await read();
    const took = performance.now() - started;
    if (took > SLOW) this.#results.set(key, { result, until: started + keptFor(took) });
    else this.#results.delete(key);
    return result;
  }

  clear(): void {
    this.#results.clear();
  }
}
