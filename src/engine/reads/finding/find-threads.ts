import type { Found, IndexEntry, Listed } from "../../../backend.ts";
import type { ThreadInfo } from "../../../model/checkpoint.ts";
import type { ThreadsOptions } from "../../../model/interface/store-options.ts";
import { compareBytes, utf8 } from "../../../platform/bytes.ts";
import { nextTurn } from "../../../platform/turns.ts";
import { ifDamaged, unlessDamaged } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import { decodeMeta } from "../../records/meta.ts";
import { AFTER_TIMES, leaseText, runText, textBehind } from "../../records/store-wide/index-entries.ts";
import { shownRows } from "../../view/shown-rows.ts";
import { byId, placesOf } from "../list-threads.ts";
import { type FoundThread, threadsAt } from "../thread-info.ts";
import type { TapePlace } from "../thread-summary.ts";
import { compareActivity, cursorOf, type ListPlace, placeAfter, secondOf, type ThreadPlace } from "./cursor.ts";
import { ThreadQuery, tapesOfEntries } from "./query.ts";
import { Seconds } from "./seconds.ts";
import { NewestFirst } from "./streams.ts";

/** Threads looked at together. */
const PAGE = 64;

/** Threads that are gathered and sorted in memory; where there are more, the list is read in its order and filtered. */
const GATHERED = 1000;

/** Yields the threads that show a checkpoint and meet the options. A damaged thread is passed over: `verify` reports it. */
export async function* listThreads(context: EngineContext, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const source = await context.calls.track(() => sourceOf(context, options));
  for (;;) {
    options.signal?.throwIfAborted();
    const next = await context.calls.track(() => source.next());
    if (next.done) return;
    for (const info of next.value) {
      yield info;
      left -= 1;
      if (left <= 0) return;
      options.signal?.throwIfAborted();
    }
  }
}

/** Threads that are found together. A generator that yields each by itself would cost more than finding it. */
type Threads = AsyncGenerator<readonly ThreadInfo[]>;

async function sourceOf(context: EngineContext, options: ThreadsOptions): Promise<Threads> {
  const query = new ThreadQuery(options, await context.hidesIds());
  const finder = new Finder(context, query, options);
  const isIndexed = (options.order === "updated" || query.isSelective) && (await context.index.isComplete());
  if (options.order === "updated") return isIndexed ? finder.newestFirst() : finder.newestOfAll();
  return isIndexed ? finder.fewById() : finder.byId();
}

class Finder {
  readonly #context: EngineContext;
  readonly #query: ThreadQuery;
  readonly #options: ThreadsOptions;

  constructor(context: EngineContext, query: ThreadQuery, options: ThreadsOptions) {
    this.#context = context;
    this.#query = query;
    this.#options = options;
  }

  /** Yields threads in the order of the list, from `after` on. */
  async *byId(): Threads {
    const { prefix, after } = this.#options;
    const range = { ...(prefix !== undefined && { prefix }), ...(after !== undefined && { after }) };
    for await (const page of byId(this.#context, range)) {
      yield (await this.#sought(page)).map(({ info }) => info);
    }
  }

  /** Yields threads in the order of the list, by the index where that names few. */
  async *fewById(): Threads {
    const few = (await this.#gather()) ?? (await this.#few());
    if (few === undefined) {
      yield* this.byId();
      return;
    }
    const keyOf = (id: string): Uint8Array => utf8(this.#context.listedId(id));
    const after = this.#options.after === undefined ? undefined : keyOf(this.#options.after);
    const sorted = few
      .map(({ info }) => ({ info, key: keyOf(info.id) }))
      .filter(({ key }) => after === undefined || compareBytes(key, after) > 0)
      .sort((left, right) => compareBytes(left.key, right.key));
    yield sorted.map(({ info }) => info);
  }

  /** Yields threads by their activity, newest first. */
  async *newestFirst(): Threads {
    const { after, limit = Number.POSITIVE_INFINITY } = this.#options;
    const start = after === undefined ? undefined : await placeAfter(this.#context, after);
    const few = await this.#gather();
    if (few) {
      yield sortedByActivity(few, start);
      return;
    }
    const { seeksRunning } = this.#query;
    const running = seeksRunning ? await this.#running() : [];
    const unseen = new Set(running.map(placeName));
    const seconds = await this.#secondsFrom(start, running);
    for (let size = Math.min(limit, PAGE); ; size = PAGE) {
      const groups = await seconds.next(size);
      const places = groups.flatMap((group) => group.places);
      if (places.length === 0) return;
      // A running thread is under its other status, too: it comes once.
      const isFirst = ({ info, place }: FoundThread): boolean =>
        !seeksRunning || info.status !== "running" || unseen.delete(placeName(place));
      const found = (await this.#sought(await threadsAt(this.#context, places))).filter(isFirst);
      const page: ThreadInfo[] = [];
      let next = 0;
      for (const { places, isWhole } of groups) {
        const listed: Listing[] = [];
        for (const place of places) {
          const one = found[next];
          if (one?.place !== place) continue;
          listed.push(listingOf(one.info, place));
          next += 1;
        }
        page.push(...(isWhole ? inOrder(listed, start) : listed.map(withCursor)));
      }
      yield page;
      // On a backend that answers at once, a long list would otherwise keep everything else waiting.
      await nextTurn();
    }
  }

  /** Begins a list behind a place: at the beginning of its second, which may be in another order by now. */
  async #secondsFrom(start: ThreadPlace | undefined, running: readonly ListPlace[]): Promise<Seconds> {
    const stream = (from: ListPlace | undefined): NewestFirst =>
      new NewestFirst(this.#context, this.#query.prefixes(), this.#options, from, running);
    if (start === undefined) return new Seconds(stream(undefined));
    const second = secondOf(start);
    const beginning = { time: (second + 1) * 1000, lineage: 0, tape: 0 };
    const seconds = new Seconds(stream(beginning));
    return (await seconds.isCrowded(second)) ? new Seconds(stream(start), second) : seconds;
  }

  /** Yields threads by their activity where not all are in the index: reads the whole list. */
  async *newestOfAll(): Threads {
    const { prefix, after } = this.#options;
    const all: FoundThread[] = [];
    for await (const page of byId(this.#context, { ...(prefix !== undefined && { prefix }) })) all.push(...page);
    const found = await this.#sought(all);
    const last = all.find(({ info }) => info.id === after);
    const start = last
      ? activityOf(last).place
      : after === undefined
        ? undefined
        : await placeAfter(this.#context, after);
    yield sortedByActivity(found, start);
  }

  /** Returns all threads that match, where one read names all candidates and they are few; else undefined. */
  async #gather(): Promise<readonly FoundThread[] | undefined> {
    const { run, prefix } = this.#options;
    if (run !== undefined) return this.#accepted(await this.#ofRun(run));
    const range = this.#query.range(GATHERED + 1);
    if (range) {
      const [entries] = (await this.#context.read([range])) as readonly [readonly IndexEntry[]];
      if (entries.length <= GATHERED) return this.#accepted(tapesOfEntries(entries));
    }
    if (prefix !== undefined && prefix !== "") {
      const [listed] = (await this.#context.read([{ list: { prefix, limit: GATHERED + 1 } }])) as [readonly Listed[]];
      if (listed.length <= GATHERED) return this.#accepted(placesOf(listed));
    }
    return undefined;
  }

  /** Returns all threads under the query's texts; undefined where there are many. */
  async #few(): Promise<readonly FoundThread[] | undefined> {
    const running = this.#query.seeksRunning ? await this.#running() : [];
    const stream = new NewestFirst(this.#context, this.#query.prefixes(), this.#options, undefined, running, false);
    const places = await stream.next(GATHERED + 1);
    if (places.length > GATHERED) return undefined;
    return this.#accepted(tapesOfEntries(places.map(({ lineage, tape }) => ({ text: "", lineage, tape }))));
  }

  async #accepted(places: readonly TapePlace[]): Promise<readonly FoundThread[]> {
    const accepted: FoundThread[] = [];
    for (let start = 0; start < places.length; start += PAGE) {
      this.#options.signal?.throwIfAborted();
      accepted.push(...(await this.#sought(await threadsAt(this.#context, places.slice(start, start + PAGE)))));
    }
    return accepted;
  }

  /** Returns those of some threads that are sought. */
  async #sought<Found extends FoundThread>(found: readonly Found[]): Promise<readonly Found[]> {
    const accepted = found.filter(({ info }) => this.#query.accepts(info));
    const { run } = this.#options;
    if (run === undefined) return accepted;
    const proved: Found[] = [];
    for (const one of accepted) {
      const isSought = one.info.head.run === run || (await this.#showsRun(one.place, run));
      if (isSought) proved.push(one);
    }
    return proved;
  }

  async #showsRun({ lineage, tape: number }: TapePlace, run: string): Promise<boolean> {
    const tape = await this.#context.tapes.refresh(number, lineage).catch(ifDamaged);
    if (!tape) return false;
    for await (const row of shownRows(this.#context, tape)) if (row.run === run) return true;
    return false;
  }

  /** Returns the tapes that may show a run: a fork shows the runs of its source. */
  async #ofRun(run: string): Promise<readonly TapePlace[]> {
    const from = runText(run);
    const [entries] = (await this.#context.read([
      { find: { from, to: textBehind(from), limit: Number.MAX_SAFE_INTEGER } },
    ])) as readonly [readonly IndexEntry[]];
    const lineages = [...new Set(entries.map(({ lineage }) => lineage))];
    const scans = lineages.map((lineage) => ({ scan: { table: "meta", lineage, group: lineage } as const }));
    const metas = (await this.#context.read(scans)) as readonly (readonly Found[])[];
    return lineages.flatMap((lineage, index) =>
      (metas[index] as readonly Found[]).map(({ item }) => ({ lineage, tape: item })),
    );
  }

  /** Returns the threads whose lease is live. */
  async #running(): Promise<readonly ListPlace[]> {
    return (await runningTapes(this.#context)).flatMap(({ lineage, tape, meta }) =>
      meta.index === undefined ? [] : [{ lineage, tape, time: meta.index.t }],
    );
  }
}

/** Returns the tapes whose lease is live, with their meta records. */
export async function runningTapes(
  context: EngineContext,
): Promise<readonly (TapePlace & { readonly meta: ReturnType<typeof decodeMeta> })[]> {
  const from = leaseText(context.clock() + 1);
  const [entries] = (await context.read([
    { find: { from, to: `l${AFTER_TIMES}`, limit: Number.MAX_SAFE_INTEGER } },
  ])) as readonly [readonly IndexEntry[]];
  const places = tapesOfEntries(entries);
  const metas = await context.read(
    places.map(({ lineage, tape }) => ({
      get: { table: "meta", lineage, group: lineage, item: tape, part: 0 } as const,
    })),
  );
  return places.flatMap((place, index) => {
    const value = metas[index] as Parameters<typeof decodeMeta>[0] | undefined;
    const meta = value === undefined ? undefined : unlessDamaged(() => decodeMeta(value));
    return meta === undefined ? [] : [{ ...place, meta }];
  });
}

function placeName({ lineage, tape }: TapePlace): string {
  return `${lineage}:${tape}`;
}

interface Listing {
  readonly info: ThreadInfo;
  readonly place: ThreadPlace;
}

function listingOf(info: ThreadInfo, { lineage, tape, time }: ListPlace): Listing {
  return { info, place: { lineage, tape, time, updatedAt: info.updatedAt } };
}

function activityOf({ place, meta, info }: FoundThread): Listing {
  return listingOf(info, { ...place, time: meta.index?.t ?? info.updatedAt });
}

function sortedByActivity(found: readonly FoundThread[], after: ThreadPlace | undefined): readonly ThreadInfo[] {
  return inOrder(found.map(activityOf), after);
}

/** Returns threads in the order of their activity, those behind `after`. */
function inOrder(listed: Listing[], after: ThreadPlace | undefined): readonly ThreadInfo[] {
  const behind = after === undefined ? listed : listed.filter(({ place }) => compareActivity(place, after) > 0);
  return behind.sort((left, right) => compareActivity(left.place, right.place)).map(withCursor);
}

/** Gives a thread, which was made for this list alone, the cursor behind which the list goes on. */
function withCursor({ info, place }: Listing): ThreadInfo {
  (info as { cursor: string }).cursor = cursorOf(place);
  return info;
}
