/** Tapes that are remembered at once, sixteen bytes each. */
const MOST = 2 ** 20;
const FIRST_CAPACITY = 1024;

/**
 * Remembers the least numbers of tapes from `from` on, with their lineages, in bounded memory. Where there are more than it holds,
 * it keeps the lower half and passes over those above, which are for another pass: see `rest`.
 */
export class NumberRange {
  readonly from: number;
  readonly #most: number;
  /** Numbers from here on are left to another pass. */
  #beyond = Number.POSITIVE_INFINITY;
  #numbers = new Float64Array(FIRST_CAPACITY);
  #lineages = new Float64Array(FIRST_CAPACITY);
  #count = 0;

  constructor(from = 0, most: number = MOST) {
    this.from = from;
    this.#most = most;
  }

  /** Returns how many tapes are remembered now. */
  get held(): number {
    return this.#count;
  }

  add(number: number, lineage: number): void {
    if (number < this.from || number >= this.#beyond) return;
    if (this.#count === this.#most) this.#makeRoom();
    if (number >= this.#beyond || this.#count === this.#most) return;
    if (this.#count === this.#numbers.length) this.#grow();
    this.#numbers[this.#count] = number;
    this.#lineages[this.#count] = lineage;
    this.#count += 1;
  }

  /** Yields each number that tapes of several lineages have. */
  *repeated(): Generator<readonly [number: number, lineages: readonly number[]]> {
    const order = this.#order();
    for (let start = 0; start < order.length; ) {
      const number = this.#numbers[order[start] as number] as number;
      let end = start + 1;
      while (end < order.length && this.#numbers[order[end] as number] === number) end += 1;
      const lineages = new Set(Array.from(order.subarray(start, end), (at) => this.#lineages[at] as number));
      if (lineages.size > 1) yield [number, [...lineages]];
      start = end;
    }
  }

  /** Returns a range for the numbers that were passed over; undefined if there are none. */
  rest(): NumberRange | undefined {
    return this.#beyond === Number.POSITIVE_INFINITY ? undefined : new NumberRange(this.#beyond, this.#most);
  }

  /** Takes out tapes that were added twice, as deleted ones with several forks are; then the upper half, if there is still no room. */
  #makeRoom(): void {
    const order = this.#order();
    const [numbers, lineages] = [new Float64Array(order.length), new Float64Array(order.length)];
    let count = 0;
    for (const at of order) {
      const [number, lineage] = [this.#numbers[at] as number, this.#lineages[at] as number];
      if (count > 0 && numbers[count - 1] === number && lineages[count - 1] === lineage) continue;
      numbers[count] = number;
      lineages[count] = lineage;
      count += 1;
    }
    if (count > this.#most / 2) {
      this.#beyond = Math.max(numbers[count >> 1] as number, this.from + 1);
      while (count > 0 && (numbers[count - 1] as number) >= this.#beyond) count -= 1;
    }
    this.#numbers = numbers;
    this.#lineages = lineages;
    this.#count = count;
  }

  /** Returns the places of the tapes by number, then lineage. */
  #order(): Uint32Array {
    const [numbers, lineages] = [this.#numbers, this.#lineages];
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index);
    return order.sort((left, right) => {
      const difference = (numbers[left] as number) - (numbers[right] as number);
      return difference === 0 ? (lineages[left] as number) - (lineages[right] as number) : difference;
    });
  }

  #grow(): void {
    const capacity = Math.min(2 * this.#numbers.length, Math.max(this.#most, FIRST_CAPACITY));
    const [numbers, lineages] = [new Float64Array(capacity), new Float64Array(capacity)];
    numbers.set(this.#numbers);
    lineages.set(this.#lineages);
    this.#numbers = numbers;
    this.#lineages = lineages;
  }
}
