import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import { hasOpenInterrupt } from "../../display/steps/question.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import type { Status } from "../../model/status.ts";
import { NestedGraphs } from "./nested-graphs.ts";

/** A list of threads is kept for this many times the time it took to make. */
const IDLE_FACTOR = 10;
const SHORTEST_PAUSE = 1_000;
/** How long the first caller waits for a list that is being made, in milliseconds. */
const PATIENCE = 400;
/** Until the first list is complete, pages up to here are read from the store's index. */
const FIRST = 1_000;
/** The threads that are listed so far are shown each time that so many have come. */
const PORTION = 5_000;
/** The list is made in slices of so many milliseconds. As much time again is left to what people wait for. */
const SLICE = 4;
/** A thread that takes longer to read than this, in milliseconds, has a large state: it is read again only now and then. */
const SLOW = 20;
const MOST_SLOW = 500;

export interface Query {
  readonly search: string;
  readonly workflow: string | undefined;
  readonly status: Status | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface Page {
  readonly threads: readonly ThreadInfo[];
  /** How many threads match. */
  readonly total: number;
  /** How many threads match by status, whatever the status asked for. */
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  readonly workflows: readonly string[];
  /** False if a search has not seen all threads yet, while the store is listed for the first time. */
  readonly complete: boolean;
}

/** The parts of a page that are the same for every stretch of the list. */
type Totals = Pick<Page, "statuses" | "workflows">;

/**
 * The threads of a store, newest activity first. The first pages are read from the store's index, at the cost of what they
 * show. To be searched, and to be scrolled to any place, all threads are listed in the background, which takes seconds for a
 * hundred thousand, and again now and then; a single thread is always read afresh.
 */
export class Catalogue {
  /** The graphs that ran inside a thread. */
  readonly graphs: NestedGraphs;
  readonly #store: Store;
  #threads: readonly ThreadInfo[] = [];
  #scan: Promise<void> | undefined;
  #nextScan = 0;
  #listedAt = Number.NEGATIVE_INFINITY;
  #complete = false;
  /** How many callers wait for the list to be complete: for them it is made without pauses. */
  #awaited = 0;
  /** Threads that are slow to read, by id. */
  readonly #slow = new Map<string, { readonly info: ThreadInfo | undefined; readonly until: number }>();
  /** First pages that were slow to read, by query. */
  readonly #slowPages = new Map<string, { readonly page: Page; readonly until: number }>();
  /** The totals of the whole list as it is. */
  #totals: { readonly of: readonly ThreadInfo[]; readonly totals: Totals } | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.graphs = new NestedGraphs(store);
  }

  /** Tells whether all threads have been listed once. */
  get isComplete(): boolean {
    return this.#complete;
  }

  async page(query: Query): Promise<Page> {
    const isFirst = !this.#complete && query.search === "" && query.offset + query.limit <= FIRST;
    if (isFirst) {
      const page = await this.#firstPage(query);
      this.#begin();
      return page;
    }
    await this.#freshen();
    const text = query.search.toLowerCase();
    const isWhole = text === "" && query.workflow === undefined;
    const named = isWhole
      ? this.#threads
      : this.#threads.filter(
          ({ id, workflow }) =>
            (text === "" || id.toLowerCase().includes(text)) &&
            (query.workflow === undefined || workflow === query.workflow),
        );
    const matching = query.status === undefined ? named : named.filter(({ status }) => status === query.status);
    const shown = matching.slice(query.offset, query.offset + query.limit);
    return {
      threads: performance.now() - this.#listedAt < SHORTEST_PAUSE ? shown : await this.#lookUp(shown),
      total: matching.length,
      ...this.#wholeTotals(),
      ...(!isWhole && { statuses: statusesOf(named) }),
      // A list that is not complete must not seem short: whoever scrolls through it would be sent back.
      ...(!this.#complete && text === "" && (await this.#counted(query))),
      complete: this.#complete,
    };
  }

  /** Returns how many threads there are, by status. */
  async totals(): Promise<Pick<Page, "total" | "statuses">> {
    const { threads, status } = await this.#store.counts();
    this.#begin();
    return { total: threads, statuses: withoutZeros(status) };
  }

  async #firstPage(query: Query): Promise<Page> {
    const key = JSON.stringify(query);
    const known = this.#slowPages.get(key);
    const started = performance.now();
    if (known !== undefined && started < known.until) return known.page;
    const page = await this.#indexed(query);
    const took = performance.now() - started;
    if (took > SLOW) this.#slowPages.set(key, { page, until: started + took * IDLE_FACTOR });
    return page;
  }

  /** Reads a page from the store's index, before all threads are listed. */
  async #indexed(query: Query): Promise<Page> {
    const { workflow, status, offset, limit } = query;
    const threads: ThreadInfo[] = [];
    const wanted = { ...(workflow !== undefined && { workflow }), ...(status !== undefined && { status }) };
    for await (const info of this.#store.threads({ ...wanted, order: "updated", limit: offset + limit }))
      threads.push(info);
    return { threads: threads.slice(offset), ...(await this.#counted(query)), complete: true };
  }

  /** Counts the threads of a query without a text by the store's index. */
  async #counted({ workflow, status }: Query): Promise<Totals & Pick<Page, "total">> {
    const counts = await this.#store.counts();
    const statuses = withoutZeros((workflow === undefined ? counts.status : counts.workflows[workflow]) ?? {});
    const total = status === undefined ? sumOf(Object.values(statuses)) : (statuses[status] ?? 0);
    const workflows = Object.keys(counts.workflows).filter((name) => name !== "");
    return { total, statuses, workflows: workflows.sort() };
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
    return info && this.#withQuestions(info);
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

  /** Returns every thread, from a list that is complete. */
  async all(): Promise<readonly ThreadInfo[]> {
    this.#awaited += 1;
    try {
      await this.#freshen();
      await this.#scan;
    } finally {
      this.#awaited -= 1;
    }
    return this.#threads;
  }

  /** Makes the next list show a change that was made here. */
  changed(): void {
    this.#nextScan = 0;
    this.#slow.clear();
    this.#slowPages.clear();
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
    for await (const info of this.#store.threads({ order: "updated" })) {
      if (!threads.has(info.id)) threads.set(info.id, await this.#withQuestions(info));
      const took = performance.now() - slice;
      if (took > SLICE) {
        await (threads.size < FIRST || this.#awaited > 0 ? turn() : pause(took));
        slice = performance.now();
      }
      // The first list is shown before it is complete.
      if (!this.#complete && threads.size % PORTION === 0) this.#threads = [...threads.values()];
    }
    this.#threads = newestFirst([...threads.values()]);
    this.#complete = true;
    this.#slowPages.clear();
    this.#listedAt = performance.now();
    this.#nextScan = this.#listedAt + Math.max(SHORTEST_PAUSE, (this.#listedAt - started) * IDLE_FACTOR);
  }

  /**
   * Counts a thread that stopped at LangGraph's `interrupt()` as waiting: its question is among the writes of its head.
   */
  async #withQuestions(info: ThreadInfo): Promise<ThreadInfo> {
    const { status, head } = info;
    if (status !== "paused" || head.pending === 0) return info;
    const writes = await this.#store.thread(info.id, { namespace: head.namespace }).writes(head.id);
    return hasOpenInterrupt(writes) ? { ...info, status: "waiting" } : info;
  }

  async #lookUp(threads: readonly ThreadInfo[]): Promise<readonly ThreadInfo[]> {
    const fresh: ThreadInfo[] = [];
    for (const info of threads) fresh.push((await this.#afresh(info.id)) ?? info);
    return fresh;
  }

  /** Reads a thread as it is now, or as it was lately if that takes long. */
  async #afresh(id: string): Promise<ThreadInfo | undefined> {
    const known = this.#slow.get(id);
    const started = performance.now();
    if (known !== undefined && started < known.until) return known.info;
    const info = await this.thread(id);
    const took = performance.now() - started;
    this.#slow.delete(id);
    if (took > SLOW) this.#slow.set(id, { info, until: started + took * IDLE_FACTOR });
    for (const oldest of this.#slow.keys()) {
      if (this.#slow.size <= MOST_SLOW) break;
      this.#slow.delete(oldest);
    }
    return info;
  }
}

/** How many threads were active, and how many were begun, in equal stretches of time up to now. */
export interface Activity {
  readonly from: number;
  readonly to: number;
  readonly updated: readonly number[];
  readonly created: readonly number[];
}

/** Counts threads by when they were last active and when they were begun. */
export function activityOf(threads: readonly ThreadInfo[], from: number, to: number, stretches: number): Activity {
  const updated = new Array<number>(stretches).fill(0);
  const created = new Array<number>(stretches).fill(0);
  const count = (counts: number[], at: number): void => {
    const stretch = Math.floor(((at - from) / (to - from)) * stretches);
    if (stretch >= 0 && stretch <= stretches) counts[Math.min(stretches - 1, stretch)]! += 1;
  };
  for (const { updatedAt, createdAt } of threads) {
    count(updated, updatedAt);
    count(created, createdAt);
  }
  return { from, to, updated, created };
}

/** Sorts threads by their activity. They come in that order but for those of one second, so that this takes little time. */
function newestFirst(threads: readonly ThreadInfo[]): readonly ThreadInfo[] {
  return threads.toSorted((left, right) => right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : 1));
}

function statusesOf(threads: readonly ThreadInfo[]): Partial<Record<Status, number>> {
  const statuses: Partial<Record<Status, number>> = {};
  for (const { status } of threads) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

function withoutZeros(counts: Readonly<Partial<Record<Status, number>>>): Partial<Record<Status, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function sumOf(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
