import { setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import type { ThreadSize } from "../../model/interface/results.ts";
import type { StorageFacts } from "../api/answers.ts";
import type { Catalogue } from "./catalogue.ts";

type State = Record<string, unknown>;

const POINTS = 120;
/** Points of the growth that are kept while threads are measured; beyond that, neighbours become one. */
const MOST_POINTS = 20_000;
/** The largest threads that are told of. */
const MOST_SIZES = 1_000;
/** The survey estimates a prune for each of these values of `keepLast`. */
const KEPT = [1, 10, 100] as const;

/** The results so far: all that a page of them shows but the number of sizes. */
type Survey = Omit<StorageFacts, "total">;
type PruneYield = StorageFacts["prunes"][number];

/** Measures all threads in the background, in sequence, which reads the whole store. */
export class StorageSurvey {
  readonly #store: Store<State>;
  readonly #catalogue: Catalogue;
  #survey: Survey = {
    state: "none",
    measured: 0,
    threads: 0,
    stats: undefined,
    sizes: [],
    growth: [],
    prunes: [],
    message: undefined,
    finishedAt: undefined,
  };
  #stopped = false;
  #work: Promise<void> = Promise.resolve();

  constructor(store: Store<State>, catalogue: Catalogue) {
    this.#store = store;
    this.#catalogue = catalogue;
  }

  get survey(): Survey {
    return this.#survey;
  }

  start(): void {
    if (this.#survey.state === "running") return;
    this.#survey = { ...this.#survey, state: "running", measured: 0, message: undefined };
    this.#work = this.#measure().catch((error: unknown) => {
      this.#survey = {
        ...this.#survey,
        state: "failed",
        message: error instanceof Error ? error.message : String(error),
      };
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  async #measure(): Promise<void> {
    const stats = await this.#store.measure();
    this.#survey = { ...this.#survey, stats };
    const threads = await this.#catalogue.count();
    let sizes: { thread: string; bytes: ThreadSize["bytes"]; checkpoints: number }[] = [];
    let points = new Map<number, number>();
    let measured = 0;
    let prunes: readonly PruneYield[] = KEPT.map((keepLast) => ({
      keepLast,
      threads: 0,
      deleted: 0,
      bytesReclaimed: 0,
    }));
    for await (const { id, checkpoints } of this.#catalogue.each()) {
      if (this.#stopped) return;
      this.#survey = { ...this.#survey, measured, threads: Math.max(threads, measured) };
      measured += 1;
      await turn();
      const size = await this.#store
        .thread(id)
        .size()
        .catch(() => undefined);
      // The thread was deleted meanwhile.
      if (size === undefined) continue;
      sizes.push({ thread: id, bytes: size.bytes, checkpoints });
      if (sizes.length >= 2 * MOST_SIZES) sizes = largest(sizes);
      for (const { at, bytes } of size.growth) points.set(at, (points.get(at) ?? 0) + bytes);
      if (points.size > MOST_POINTS) points = thinned(points);
      prunes = await Promise.all(prunes.map((prune) => this.#withYieldOf(id, checkpoints, prune)));
    }
    const growth = cumulative(inTime(points));
    const finished = { state: "done", measured, threads: measured, finishedAt: Date.now() } as const;
    this.#survey = { ...this.#survey, ...finished, sizes: largest(sizes), growth, prunes };
  }

  async #withYieldOf(id: string, checkpoints: number, prune: PruneYield): Promise<PruneYield> {
    const { keepLast, threads, deleted, bytesReclaimed } = prune;
    if (checkpoints <= keepLast) return prune;
    const rules = { keepLast, keepLabelled: true, dryRun: true } as const;
    const more = await this.#store
      .thread(id)
      .prune(rules)
      .catch(() => undefined);
    // The thread was deleted meanwhile, or is damaged: a prune would delete nothing.
    if (more === undefined || more.deleted === 0) return prune;
    return {
      keepLast,
      threads: threads + 1,
      deleted: deleted + more.deleted,
      bytesReclaimed: bytesReclaimed + more.bytesReclaimed,
    };
  }
}

function largest<Sized extends { readonly bytes: ThreadSize["bytes"] }>(sizes: readonly Sized[]): Sized[] {
  return sizes.toSorted((left, right) => right.bytes.total - left.bytes.total).slice(0, MOST_SIZES);
}

function inTime(points: ReadonlyMap<number, number>): [at: number, bytes: number][] {
  return [...points].sort(([left], [right]) => left - right);
}

/** Joins each point with the next one, at the time of the later. */
function thinned(points: ReadonlyMap<number, number>): Map<number, number> {
  const joined = new Map<number, number>();
  let before = 0;
  for (const [index, [at, bytes]] of inTime(points).entries()) {
    if (index % 2 === 0 && index < points.size - 1) before = bytes;
    else joined.set(at, bytes + (index % 2 === 0 ? 0 : before));
  }
  return joined;
}

/** Returns the running sum over time, at no more points than a plot can show. */
function cumulative(points: readonly (readonly [at: number, bytes: number])[]): { at: number; bytes: number }[] {
  const sums: { at: number; bytes: number }[] = [];
  let bytes = 0;
  for (const [at, more] of points) {
    bytes += more;
    sums.push({ at, bytes });
  }
  const stride = Math.max(1, Math.ceil(sums.length / POINTS));
  return sums.filter((_, index) => index % stride === 0 || index === sums.length - 1);
}
