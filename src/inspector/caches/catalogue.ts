import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import type { Status } from "../../model/status.ts";
import { NestedGraphs } from "./nested-graphs.ts";
import { keptFor, SlowReads } from "./slow-reads.ts";
import { type StatusCounts, statusesOf, sumOf, withoutZeros } from "./status-counts.ts";

const SHORTEST_PAUSE = 1_000;
/** How long the first caller waits for a list that is being made, in milliseconds. */
const PATIENCE = 400;
/** The newest threads that are listed to be searched and scrolled through. */
const MOST_LISTED = 100_000;
/** Until the first list is complete, pages up to here are read from the store's index. */
const FIRST = 1_000;
/** Threads that a search finds by the beginning of their ids, in a store with more than are listed. */
const MOST_OLDER = 200;
/** The threads that can be scrolled to in a store with more than are listed. */
const DEEPEST = 10_000;
/** An unfinished list is shown each time that this many threads were added to it. */
const PORTION = 5_000;
/** Milliseconds of a slice of the work on the list. A pause of that length follows, for what people wait for. */
const SLICE = 4;

export interface Query {
  readonly search: string;
  readonly workflow: string | undefined;
  readonly status: Status | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface Page {
  readonly threads: readonly ThreadInfo[];
  /** How many threads match, of those that can be scrolled to. */
  readonly total: number;
  /** How many threads are beyond that: too old to be scrolled to, or to be searched by a part of their name. */
  readonly beyond: number;
  /** How many threads match by status, whatever the status asked for. */
  readonly statuses: StatusCounts;
  readonly workflows: readonly string[];
  /** False if a search has not seen all threads yet, while the store is listed for the first time. */
  readonly complete: boolean;
}

export interface WorkflowCounts {
  readonly name: string;
  readonly counts: StatusCounts;
}

/** The parts of a page that are the same for every stretch of the list. */
type Totals = Pick<Page, "statuses" | "workflows">;

/**
 * The threads of a store, newest activity first. The first pages are read from the store's index, at the cost of what they
 * show. To be searched, and to be scrolled to any place, the newest threads are listed in the background, which takes seconds for
 * a hundred thousand, and again now and then; a single thread is always read afresh. Of a store with more threads only so many
 * are kept: the memory of an inspector does not follow the size of its store.
 */
export class Catalogue {
  /** The graphs that ran inside a thread. */
  readonly graphs: NestedGraphs;
  readonly #store: Store;
  readonly #most: number;
  #threads: readonly ThreadInfo[] = [];
  /** Whether the store has more threads than were listed. */
  #isCut = false;
  #scan: Promise<void> | undefined;
  #nextScan = 0;
  #listedAt = Number.NEGATIVE_INFINITY;
  #complete = false;
  /** How many callers wait for the list to be complete: for them it is made without pauses. */
  #awaited = 0;
  readonly #infos = new SlowReads<ThreadInfo | undefined>();
  /** First pages, by query. */
  readonly #pages = new SlowReads<Page>();
  /** The totals of the whole list as it is. */
  #totals: { readonly of: readonly ThreadInfo[]; readonly totals: Totals } | undefined;

  constructor(store: Store, most: number = MOST_LISTED) {
    this.#store = store;
    this.#most = most;
    this.graphs = new NestedGraphs(store);
  }

  /** Tells whether the threads have been listed once. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** Tells whether the store has more threads than are listed. */
  get isCut(): boolean {
    return this.#isCut;
  }

  async page(query: Query): Promise<Page> {
    const deepest = this.#isCut ? DEEPEST : this.#complete ? 0 : FIRST;
    if (query.search === "" && query.offset + query.limit <= deepest) {
      const page = await this.#pages.read(JSON.stringify(query), () => this.#indexed(query));
      this.#begin();
      return page;
    }
    await this.#freshen();
    const text = query.search.toLowerCase();
    const isWhole = text === "" && query.workflow === undefined;
    const isSought = ({ id, workflow }: ThreadInfo): boolean =>
      (text === "" || id.toLowerCase().includes(text)) && (query.workflow === undefined || workflow === query.workflow);
    const named = isWhole
      ? this.#threads
      : [...this.#threads.filter(isSought), ...(await this.#older(query.search)).filter(isSought)];
    const matching = query.status === undefined ? named : named.filter(({ status }) => status === query.status);
    const shown = matching.slice(query.offset, query.offset + query.limit);
    return {
      threads: performance.now() - this.#listedAt < SHORTEST_PAUSE ? shown : await this.#lookUp(shown),
      total: matching.length,
      beyond: this.#isCut ? Math.max(0, (await this.#store.counts()).threads - this.#threads.length) : 0,
      ...this.#wholeTotals(),
      ...(!isWhole && { statuses: statusesOf(named) }),
      // A list that is not complete must not seem short: whoever scrolls through it would be sent back.
      ...(!this.#complete && text === "" && (await this.#counted(query))),
      complete: this.#complete,
    };
  }

  /** Returns how many threads there are, by status and workflow. */
  async totals(): Promise<Pick<Page, "total" | "statuses"> & { readonly workflows: readonly WorkflowCounts[] }> {
    const { threads, status, workflows } = await this.#store.counts();
    this.#begin();
    return {
      total: threads,
      statuses: withoutZeros(status),
      workflows: Object.entries(workflows).map(([name, counts]) => ({ name, counts: withoutZeros(counts) })),
    };
  }

  /** Reads a page from the store's index, before all threads are listed. */
  async #indexed(query: Query): Promise<Page> {
    const { workflow, status, offset, limit } = query;
    const threads: ThreadInfo[] = [];
    const wanted = { ...(workflow !== undefined && { workflow }), ...(status !== undefined && { status }) };
    for await (const info of this.#store.threads({ ...wanted, order: "updated", limit: offset + limit }))
      threads.push(info);
    const counted = await this.#counted(query);
    const total = this.#isCut ? Math.min(counted.total, DEEPEST) : counted.total;
    return { threads: threads.slice(offset), ...counted, total, beyond: counted.total - total, complete: true };
  }

  /** Counts the threads of a query without a text by the store's index. */
  async #counted({ workflow, status }: Query): Promise<Totals & Pick<Page, "total">> {
    const counts = await this.#store.counts();
    const statuses = withoutZeros((workflow === undefined ? counts.status : counts.workflows[workflow]) ?? {});
    const total = status === undefined ? sumOf(Object.values(statuses)) : (statuses[status] ?? 0);
    const workflows = Object.keys(counts.workflows).filter((name) => name !== "");
    return { total, statuses, workflows: workflows.sort() };
  }

  /** Finds threads that are too old to be listed, by the beginning of their names. */
  async #older(search: string): Promise<readonly ThreadInfo[]> {
    if (!this.#isCut || search === "") return [];
    const listed = new Set(this.#threads.map(({ id }) => id));
    const older: ThreadInfo[] = [];
    for await (const info of this.#store.threads({ prefix: search, limit: MOST_OLDER }))
      if (!listed.has(info.id)) older.push(info);
    return newestFirst(older);
  }

  #wholeTotals(): Totals {
    if (this.#totals?.of !== this.#threads) {
      const workflows = new Set<string>();
      for (const { workflow } of this.#threads) if (workflow) workflows.add(workflow);
      const totals = { statuses: statusesOf(this.#threads), workflows: [...workflows].sort() };
      this.#totals = { of: this.#threads, totals };
    }
    return this.#totals.totals;
  }

  /** Reads a thread as it is now. */
  async thread(id: string): Promise<ThreadInfo | undefined> {
    const info = await this.#store
      .thread(id)
      .info()
      .catch((error: unknown) => {
        // Lists pass over a damaged thread, too.
        if (ThreadmarkError.is(error, "CORRUPT")) return undefined;
        throw error;
      });
    return info;
  }

  /** Returns the threads that were forked or copied from another. */
  async forksOf(id: string): Promise<readonly ThreadInfo[]> {
    await this.#freshen();
    return this.#threads.filter(({ forkedFrom }) => forkedFrom?.thread === id);
  }

  /** Returns the threads as they were listed last. */
  get listed(): readonly ThreadInfo[] {
    return this.#threads;
  }

  /** Returns how many threads there are. */
  async count(): Promise<number> {
    return (await this.#store.counts()).threads;
  }

  /** Yields every thread: from a list that is complete, and behind its end from the store. */
  async *each(): AsyncGenerator<ThreadInfo> {
    this.#awaited += 1;
    try {
      await this.#freshen();
      await this.#scan;
    } finally {
      this.#awaited -= 1;
    }
    const threads = this.#threads;
    const last = threads.at(-1);
    yield* threads;
    if (this.#isCut && last) yield* this.#store.threads({ order: "updated", after: last.cursor });
  }

  /** Makes the next list show a change that was made here. */
  changed(): void {
    this.#nextScan = 0;
    this.#infos.clear();
    this.#pages.clear();
    this.graphs.forget();
  }

  /** Begins to list all threads, if it is time. */
  #begin(): void {
    if (this.#scan !== undefined || performance.now() < this.#nextScan) return;
    this.#scan = this.#list().finally(() => {
      this.#scan = undefined;
    });
    // A caller that waits for the scan gets its failure; if none does, the next call tries again.
    this.#scan.catch(() => undefined);
  }

  async #freshen(): Promise<void> {
    this.#begin();
    if (this.#scan !== undefined) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE);
      });
      await Promise.race([this.#scan, patience]).finally(() => clearTimeout(timer));
    }
  }

  async #list(): Promise<void> {
    const started = performance.now();
    let slice = started;
    // A thread that becomes active meanwhile may come twice: its place is the first.
    const threads = new Map<string, ThreadInfo>();
    let isCut = false;
    for await (const info of this.#store.threads({ order: "updated" })) {
      if (threads.size === this.#most) {
        isCut = true;
        break;
      }
      if (!threads.has(info.id)) threads.set(info.id, info);
      const took = performance.now() - slice;
      if (took > SLICE) {
        await (threads.size < FIRST || this.#awaited > 0 ? turn() : pause(took));
        slice = performance.now();
      }
      // The first list is shown before it is complete.
      if (!this.#complete && threads.size % PORTION === 0) this.#threads = [...threads.values()];
    }
    this.#threads = newestFirst([...threads.values()]);
    this.#isCut = isCut;
    this.#complete = true;
    this.#pages.clear();
    this.#listedAt = performance.now();
    this.#nextScan = this.#listedAt + Math.max(SHORTEST_PAUSE, keptFor(this.#listedAt - started));
  }

  async #lookUp(threads: readonly ThreadInfo[]): Promise<readonly ThreadInfo[]> {
    const fresh: ThreadInfo[] = [];
    for (const info of threads) fresh.push((await this.#infos.read(info.id, () => this.thread(info.id))) ?? info);
    return fresh;
  }
}

/** Sorts threads by their activity. They come in that order but for those of one second, so that this takes little time. */
function newestFirst(threads: readonly ThreadInfo[]): readonly ThreadInfo[] {
  return threads.toSorted((left, right) => right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : 1));
}
