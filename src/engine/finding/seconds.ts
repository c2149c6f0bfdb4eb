import { type ListPlace, secondOf } from "./cursor.ts";
import type { NewestFirst } from "./streams.ts";

/** So many threads of one second are put into their exact order. */
const MOST_IN_SECOND = 64;

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
      await this.#fill(count - taken + MOST_IN_SECOND + 1);
      const [first] = this.#waiting;
      if (first === undefined) break;
      const second = secondOf(first);
      const end = this.#waiting.findIndex((place) => secondOf(place) !== second);
      const length = end < 0 ? this.#waiting.length : end;
      if (length > MOST_IN_SECOND) this.#crowded = second;
      const isWhole = this.#crowded !== second;
      const places = this.#waiting.splice(0, isWhole ? length : Math.min(length, count - taken));
      groups.push({ places, isWhole });
      taken += places.length;
    }
    return groups;
  }

  async #fill(count: number): Promise<void> {
    while (this.#waiting.length < count && !this.#isEnded) {
      const places = await this.#stream.next(count - this.#waiting.length);
      this.#isEnded = places.length === 0;
      this.#waiting.push(...places);
    }
  }
}

/** Tells whether a second has too many entries to be sorted. */
export async function isCrowded(stream: NewestFirst, second: number): Promise<boolean> {
  const places = await stream.next(MOST_IN_SECOND + 1);
  return places.filter((place) => secondOf(place) === second).length > MOST_IN_SECOND;
}
