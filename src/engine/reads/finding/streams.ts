import type { FoundEntry, IndexEntry, Read } from "../../../backend.ts";
import type { EngineContext } from "../../memory/context.ts";
import { AFTER_TIMES, TIME_DIGITS, timeOf, timeText, timeTextBehind } from "../../records/store-wide/index-entries.ts";
import { comparePlaces, type ListPlace } from "./cursor.ts";

/** The part of time that a list is limited to. */
export interface TimeRange {
  readonly updatedAfter?: number | undefined;
  readonly updatedBefore?: number | undefined;
}

/** Entries under one text. Invariant: `first` is the place of `entries[next]`; the places behind it are not made yet. */
interface Stream {
  readonly prefix: string;
  entries: readonly FoundEntry[];
  next: number;
  first: ListPlace | undefined;
  last: IndexEntry | undefined;
  isDone: boolean;
}

/**
 * Merges the entries under several texts, all of which end with a time, newest first. `places` are merged with them. Each
 * page takes one read, whatever the number of texts; `withTapes`, it brings the newest records of the threads along.
 */
export class NewestFirst {
  readonly #context: EngineContext;
  readonly #streams: Stream[];
  /** Places that are merged with the entries, the next one last. */
  readonly #others: ListPlace[];
  readonly #range: TimeRange;
  readonly #withTapes: boolean;

  constructor(
    context: EngineContext,
    prefixes: readonly string[],
    range: TimeRange,
    after: ListPlace | undefined,
    places: readonly ListPlace[] = [],
    withTapes = true,
  ) {
    this.#context = context;
    this.#withTapes = withTapes;
    this.#range = range;
    this.#streams = prefixes.map((prefix) => ({
      prefix,
      entries: [],
      next: 0,
      first: undefined,
      last: entryAt(prefix, after),
      isDone: false,
    }));
    const behind = places.filter((place) => after === undefined || comparePlaces(place, after) > 0);
    this.#others = behind.toSorted(comparePlaces).reverse();
  }

  /** Returns the next places, at most `count`; none at the end. */
  async next(count: number): Promise<readonly ListPlace[]> {
    const places: ListPlace[] = [];
    while (places.length < count) {
      await this.#fill(count - places.length);
      // Until a stream has to be read again, the others can go on.
      let stream: Stream | undefined;
      do {
        stream = this.#newest();
        const place = stream === undefined ? this.#others.pop() : take(stream);
        if (place === undefined) return places;
        places.push(place);
      } while (places.length < count && (stream === undefined || stream.first !== undefined || stream.isDone));
    }
    return places;
  }

  /** Returns the stream that the next place is from; undefined if it is one of the others, or there is none. */
  #newest(): Stream | undefined {
    let newest: Stream | undefined;
    let place = this.#others.at(-1);
    for (const stream of this.#streams) {
      const { first } = stream;
      if (first === undefined || (place !== undefined && comparePlaces(first, place) >= 0)) continue;
      newest = stream;
      place = first;
    }
    return newest;
  }

  async #fill(count: number): Promise<void> {
    const empty = this.#streams.filter(({ first, isDone }) => first === undefined && !isDone);
    if (empty.length === 0) return;
    const answers = await this.#context.read(empty.map((stream) => this.#read(stream, count)));
    for (const [index, stream] of empty.entries()) {
      const entries = answers[index] as readonly FoundEntry[];
      stream.isDone = entries.length < count;
      stream.last = entries.at(-1);
      stream.entries = entries;
      stream.next = 0;
      stream.first = placeOf(entries[0]);
    }
  }

  #read({ prefix, last }: Stream, limit: number): Read {
    const { updatedAfter, updatedBefore } = this.#range;
    // An entry has a time of the second in which its thread was last active, and not behind that.
    const from = updatedAfter === undefined ? prefix : prefix + timeText(Math.floor(updatedAfter / 1000) * 1000);
    const to = prefix + (updatedBefore === undefined ? AFTER_TIMES : timeTextBehind(updatedBefore));
    return {
      find: { from, to, limit, ...(this.#withTapes && { tapes: TIME_DIGITS }), ...(last && { after: last }) },
      reverse: true,
    };
  }
}

/** Takes the first place of a stream that has one. */
function take(stream: Stream): ListPlace {
  const { first, entries } = stream;
  stream.next += 1;
  stream.first = placeOf(entries[stream.next]);
  return first as ListPlace;
}

function placeOf(entry: FoundEntry | undefined): ListPlace | undefined {
  if (entry === undefined) return undefined;
  const { text, lineage, tape, records } = entry;
  return { time: timeOf(text), lineage, tape, records };
}

function entryAt(prefix: string, place: ListPlace | undefined): IndexEntry | undefined {
  return place && { text: prefix + timeText(place.time), lineage: place.lineage, tape: place.tape };
}
