import { setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import { hasOpenInterrupt } from "../../display/steps/question.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import type { Status } from "../../model/status.ts";
import { NestedGraphs } from "./nested-graphs.ts";

/** A list of threads is kept for this many times the time it took to make. */
const IDLE_FACTOR = 10;
const SHORTEST_PAUSE = 1_000;
/** How long the first caller waits for a list that is being made, in milliseconds. */
const PATIENCE = 400;
/** So many threads of the first list are shown as soon as they are known. */
const FIRST = 100;

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
  /** False while the store is listed for the first time. */
  readonly complete: boolean;
}

/**
 * The threads of a store, newest activity first. Listing ten thousand takes a second or two, so the list is kept and
 * remade in the background now and then; a single thread is always read afresh.
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
  /** Resolves when the first list can be shown, though it is not complete. */
  readonly #begun: Promise<void>;
  #begin: () => void = () => {};

  constructor(store: Store) {
    this.#store = store;
    this.graphs = new NestedGraphs(store);
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  async page(query: Query): Promise<Page> {
    await this.#freshen();
    const text = query.search.toLowerCase();
    const named = this.#threads.filter(
      ({ id, workflow }) =>
        (text === "" || id.toLowerCase().includes(text)) &&
        (query.workflow === undefined || workflow === query.workflow),
    );
    const matching = query.status === undefined ? named : named.filter(({ status }) => status === query.status);
    const statuses: Partial<Record<Status, number>> = {};
    for (const { status } of named) statuses[status] = (statuses[status] ?? 0) + 1;
    const shown = matching.slice(query.offset, query.offset + query.limit);
    return {
      threads: performance.now() - this.#listedAt < SHORTEST_PAUSE ? shown : await this.#lookUp(shown),
      total: matching.length,
      statuses,
      workflows: [...new Set(this.#threads.map(({ workflow }) => workflow ?? ""))].filter((name) => name !== "").sort(),
      complete: this.#complete,
    };
  }

  /** Reads a thread as it is now. */
  async thread(id: string): Promise<ThreadInfo | undefined> {
    for await (const info of this.#store.threads({ prefix: id, limit: 1 }))
      return info.id === id ? this.#withQuestions(info) : undefined;
    return undefined;
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
    await this.#freshen();
    await this.#scan;
    return this.#threads;
  }

  /** Makes the next list show a change that was made here. */
  changed(): void {
    this.#nextScan = 0;
    this.graphs.forget();
  }

  async #freshen(): Promise<void> {
    if (this.#scan === undefined && performance.now() >= this.#nextScan) {
      this.#scan = this.#list().finally(() => {
        this.#scan = undefined;
      });
      // A caller that waits for the scan gets its failure; if none does, the next call tries again.
      this.#scan.catch(() => undefined);
    }
    if (this.#scan !== undefined) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE);
      });
      await Promise.race([this.#scan, patience, ...(this.#complete ? [] : [this.#begun])]).finally(() =>
        clearTimeout(timer),
      );
    }
  }

  async #list(): Promise<void> {
    const started = performance.now();
    const threads: ThreadInfo[] = [];
    for await (const info of this.#store.threads()) {
      threads.push(await this.#withQuestions(info));
      // A driver that answers at once would let no other request have a turn.
      if (threads.length % 50 === 0) await turn();
      // The first list is shown before it is complete.
      if (this.#complete || !(threads.length === FIRST || threads.length % 5_000 === 0)) continue;
      this.#threads = newestFirst(threads);
      this.#begin();
    }
    this.#threads = newestFirst(threads);
    this.#complete = true;
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
    const fresh = await Promise.all(threads.map(({ id }) => this.thread(id)));
    return threads.map((info, index) => fresh[index] ?? info);
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

function newestFirst(threads: readonly ThreadInfo[]): readonly ThreadInfo[] {
  return threads.toSorted((left, right) => right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : 1));
}
