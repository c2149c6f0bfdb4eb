/** Times in milliseconds. */
export class Timings {
  readonly #times: number[] = [];

  add(time: number): void {
    this.#times.push(time);
  }

  async measure<T>(action: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    const result = action();
    // A synchronous result is not charged for a turn of the event loop.
    const value = result instanceof Promise ? await result : result;
    this.add(performance.now() - start);
    return value;
  }

  /** Measures, but drops the time if the system gave the processor to another process meanwhile. Returns false then. */
  async measureUndisturbed(action: () => unknown): Promise<boolean> {
    const before = preemptions();
    const start = performance.now();
    const result = action();
    if (result instanceof Promise) await result;
    const time = performance.now() - start;
    if (preemptions() !== before) return false;
    this.add(time);
    return true;
  }

  get count(): number {
    return this.#times.length;
  }

  get total(): number {
    return this.#times.reduce((sum, time) => sum + time, 0);
  }

  get mean(): number {
    return this.total / this.#times.length;
  }

  get p50(): number {
    return quantile(this.#times, 0.5);
  }

  get p99(): number {
    return quantile(this.#times, 0.99);
  }

  get worst(): number {
    return this.#times.reduce((worst, time) => Math.max(worst, time), 0);
  }

  addAll(other: Timings): void {
    this.#times.push(...other.#times);
  }
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function preemptions(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}
