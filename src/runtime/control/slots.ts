/** Limits how many node functions of a run are at work at once, in the outer graph and in all nested ones together. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #first = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a free slot. The caller gives it back with {@link leave}. */
  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a slot back, to the caller that has waited longest. */
  leave(): void {
    const next = this.#waiting[this.#first];
    if (next === undefined) {
      this.#waiting.length = 0;
      this.#first = 0;
      this.#free += 1;
      return;
    }
    this.#first += 1;
    next();
  }
}
