import type { FoundEntry, IndexEntry, Read } from "../../backend.ts";
import type { Context } from "../memory/context.ts";
import { AFTER_TIMES, timeOf, timeText } from "../records/index-entries.ts";
import { comparePlaces, type ListPlace } from "./cursor.ts";

/** The part of time that a list is limited to. */
export interface TimeRange {
  readonly updatedAfter?: number | undefined;
  readonly updatedBefore?: number | undefined;
}

interface Stream {
  readonly prefix: string;
  /** Places that were read and not yielded, the next one last. */
  waiting: ListPlace[];
  last: IndexEntry | undefined;
  isDone: boolean;
}

/**
 * Merges the entries under several texts, all of which end with a time, newest first. `places` are merged with them. Each
 * page takes one read, whatever the number of texts; `withTapes`, it brings the newest records of the threads along.
 */
export class NewestFirst {
  readonly #context: Context;
  readonly #streams: Stream[];
  readonly #range: TimeRange;
  readonly #withTapes: boolean;

  constructor(
    context: Context,
    prefixes: readonly string[],
    range: TimeRange,
    after: ListPlace | undefined,
    places: readonly ListPlace[] = [],
    withTapes = true,
  ) {
    this.#context = context;
    this.#withTapes = withTapes;
    this.#range = range;
    this.#streams = prefixes.map((prefix) => ({ prefix, waiting: [], last: entryAt(prefix, after), isDone: false }));
    const behind = places.filter((place) => after === undefined || comparePlaces(place, after) > 0);
    const waiting = behind.toSorted(comparePlaces).reverse();
    this.#streams.push({ prefix: "", waiting, last: undefined, isDone: true });
  }

  /** Returns the next places, at most `count`; none at the end. */
  async next(count: number): Promise<readonly ListPlace[]> {
    const places: ListPlace[] = [];
    while (places.length < count) {
      await this.#fill(count - places.length);
      const stream = this.#first();
      if (stream === undefined) break;
      // Until a stream has to be read again, the others can go on.
      do places.push(stream.waiting.pop() as ListPlace);
      while (places.length < count && this.#first() === stream && stream.waiting.length > 0);
    }
    return places;
  }

  #first(): Stream | undefined {
    let first: Stream | undefined;
    for (const stream of this.#streams) {
      const place = stream.waiting.at(-1);
      if (place === undefined) continue;
      if (first === undefined || comparePlaces(place, first.waiting.at(-1) as ListPlace) < 0) first = stream;
    }
    return first;
  }

  async #fill(count: number): Promise<void> {
    const empty = this.#streams.filter(({ waiting, isDone }) => waiting.length === 0 && !isDone);
    if (empty.length === 0) return;
    const answers = await this.#context.read(empty.map((stream) => this.#read(stream, count)));
    for (const [index, stream] of empty.entries()) {
      const entries = answers[index] as readonly FoundEntry[];
      stream.isDone = entries.length < count;
      stream.last = entries.at(-1);
      const places = entries.map(({ text, lineage, tape, records }) => ({
        time: timeOf(text),
        lineage,
        tape,
        records,
      }));
      stream.waiting = places.reverse();
    }
  }

  #read({ prefix, last }: Stream, limit: number): Read {
    const { updatedAfter, updatedBefore } = this.#range;
    // An entry has a time of the second in which its thread was last active, and not behind that.
    const from = updatedAfter === undefined ? prefix : prefix + timeText(Math.floor(updatedAfter / 1000) * 1000);
    const to = prefix + (updatedBefore === undefined ? AFTER_TIMES : timeText(Math.ceil(updatedBefore)));
    return { find: { from, to, limit, tapes: this.#withTapes, ...(last && { after: last }) }, reverse: true };
  }
}

function entryAt(prefix: string, place: ListPlace | undefined): IndexEntry | undefined {
  return place && { text: prefix + timeText(place.time), lineage: place.lineage, tape: place.tape };
}
