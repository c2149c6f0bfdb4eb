/** Times in milliseconds. */
export class Timings {
  readonly #times: number[] = [];

  add(time: number): void {
    this.#times.push(time);
  }

  async measure<T>(action: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await action();
    this.add(performance.now() - start);
    return result;
  }

  get mean(): number {
    return this.#times.reduce((sum, time) => sum + time, 0) / this.#times.length;
  }

  quantile(part: number): number {
    const sorted = [...this.#times].sort((left, right) => left - right);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  }

  get p50(): number {
    return this.quantile(0.5);
  }

  get fastest(): number {
    return this.quantile(0);
  }
}
