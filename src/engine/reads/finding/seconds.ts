import { type ListPlace, secondOf } from "./cursor.ts";
import type { NewestFirst } from "./streams.ts";

/** Threads of one second that are put into their exact order. */
const MOST_IN_SECOND = 64;

/** Entries that the first read takes beyond those wanted: mostly enough to see the end of the last second. */
const AHEAD = 8;

/** Entries that follow each other in a list. `isWhole`: all of their second, few enough to be sorted by exact times. */
export interface SecondGroup {
  readonly places: readonly ListPlace[];
  readonly isWhole: boolean;
}

/**
 * Divides a list into seconds. Entries tell the time of the first activity in a second, which is exact for a thread that was
 * active once in it; few threads of one second are sorted by what they tell themselves. Many stay in the order of entries.
 */
export class Seconds {
  readonly #stream: NewestFirst;
  #waiting: ListPlace[] = [];
  #isEnded = false;
  /** The second that has too many entries. */
  #crowded: number | undefined;

  constructor(stream: NewestFirst, crowded?: number) {
    this.#stream = stream;
    this.#crowded = crowded;
  }

  /** Returns groups with at least `count` entries together, unless the list ends. */
  async next(count: number): Promise<readonly SecondGroup[]> {
    const groups: SecondGroup[] = [];
    let taken = 0;
    while (taken < count) {
      await this.#fill(count - taken + AHEAD);
      const [first] = this.#waiting;
      if (first === undefined) break;
      const second = secondOf(first);
      const length = await this.#lengthOf(second);
      if (length > MOST_IN_SECOND) this.#crowded = second;
      const isWhole = this.#crowded !== second;
      const places = this.#waiting.splice(0, isWhole ? length : Math.min(length, count - taken));
      groups.push({ places, isWhole });
      taken += places.length;
    }
    return groups;
  }

  /** Tells whether the list begins with a second that has too many entries to be sorted. */
  async isCrowded(second: number): Promise<boolean> {
    await this.#fill(MOST_IN_SECOND / 2);
    const [first] = this.#waiting;
    return first !== undefined && secondOf(first) === second && (await this.#lengthOf(second)) > MOST_IN_SECOND;
  }

  /** Returns how many of the next entries are of this second; of very many, at least more than are sorted. */
  async #lengthOf(second: number): Promise<number> {
    const known = (): number => {
      const end = this.#waiting.findIndex((place) => secondOf(place) !== second);
      return end < 0 ? this.#waiting.length : end;
    };
    const length = known();
    const isOpen = length === this.#waiting.length && length <= MOST_IN_SECOND && this.#crowded !== second;
    if (!isOpen || this.#isEnded) return length;
    await this.#fill(MOST_IN_SECOND + 1);
    return known();
  }

  async #fill(count: number): Promise<void> {
    while (this.#waiting.length < count && !this.#isEnded) {
      const places = await this.#stream.next(count - this.#waiting.length);
      this.#isEnded = places.length === 0;
      this.#waiting.push(...places);
    }
  }
}
