import type { IndexEntry, Value } from "../../../backend.ts";
import type { SweepOptions } from "../../../model/interface/store-options.ts";
import type { StoreRetention, SweepResult } from "../../../model/retention/sweep.ts";
import { announce } from "../../../platform/diagnostics.ts";
import { processName } from "../../../platform/node-builtins.ts";
import { rest } from "../../../platform/turns.ts";
import type { Committer } from "../../commits/group-commit.ts";
import type { Lanes } from "../../commits/lanes.ts";
import { isCorrupt } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import { metaKey, tapeName } from "../../records/keys.ts";
import { decodeMeta, type Meta } from "../../records/meta.ts";
import type { StatusCode } from "../../records/store-wide/index-state.ts";
import type { Pass, SweeperRecord } from "../../records/store-wide/sweeper.ts";
import { codeOf } from "../../view/head-status.ts";
import { reindexStore } from "../reindex.ts";
import { type SweepRange, sweepRanges } from "./ranges.ts";
import { isIdle, isInUse, type PruneHandler, type Swept, sweepChange } from "./sweep-thread.ts";
import { Sweeper, sweeperRecord } from "./sweeper.ts";

/** Entries of the index that are read together. */
const PAGE = 64;
/** Threads that are swept together: their commits are one. */
const TOGETHER = 16;
/** After each group the sweep rests so many times as long as the group took: others commit meanwhile. */
const REST = 4;
/** The longest rest, in milliseconds: on a busy machine everything takes long. */
const LONGEST_REST = 50;
/** A thread may show up in the index so long after its activity: its commit was slow, or its clock is. */
const LATE = 60_000;
/** All threads are looked at once in so many milliseconds: imported ones may have been active long ago. */
const ALL = 7 * 24 * 60 * 60 * 1000;
/** Sets of rules that are remembered. */
const PASSES = 4;

/** The parts of an engine that a sweep works with. */
export interface SweptStore {
  readonly context: EngineContext;
  readonly lanes: Lanes;
  readonly committer: Committer;
  readonly retention: StoreRetention;
  readonly pruners: ReadonlyMap<string, PruneHandler>;
}

/**
 * Deletes the threads and checkpoints that a store's retention does not keep, in batches that the index of activity names.
 * A sweep that was stopped goes on with the next one.
 */
export async function sweepStore(store: SweptStore, options: SweepOptions): Promise<SweepResult> {
  const { context, lanes, committer } = store;
  const { signal, dryRun = false } = options;
  signal?.throwIfAborted();
  if (!(await context.index.isComplete())) await reindexStore(context, lanes, committer, signal ? { signal } : {});
  const sweeper = dryRun
    ? undefined
    : await Sweeper.begin(lanes, `${processName()}:${crypto.randomUUID().slice(0, 8)}`);
  const sweep = new Sweep(store, options, sweeper, (await sweeperRecord(context)) ?? { passes: [] });
  try {
    const result = await sweep.run();
    const { threads, checkpoints: deleted, bytes: bytesReclaimed, damaged } = result;
    if (!dryRun) announce("sweep", { threads, deleted, bytesReclaimed, ...(damaged > 0 && { damaged }) });
    return result;
  } catch (error) {
    // The place that it has come to is noted. A lease that was lost is another's.
    await sweeper?.end(undefined).catch(() => {});
    throw error;
  }
}

class Sweep {
  readonly #store: SweptStore;
  readonly #options: SweepOptions;
  readonly #sweeper: Sweeper | undefined;
  readonly #rules: string;
  #record: SweeperRecord;
  #looked = 0;
  readonly #result = { threads: 0, checkpoints: 0, bytes: 0, spared: 0 };
  /** The tapes that cannot be read: several rules may name such a thread, and it counts once. */
  readonly #damaged = new Set<string>();

  constructor(store: SweptStore, options: SweepOptions, sweeper: Sweeper | undefined, record: SweeperRecord) {
    this.#store = store;
    this.#options = options;
    this.#sweeper = sweeper;
    this.#record = record;
    const { general, workflows } = store.retention;
    this.#rules = JSON.stringify([general, [...workflows]]);
  }

  async run(): Promise<SweepResult> {
    const { context, retention } = this.#store;
    const now = context.clock();
    const begun = this.#pass().begun;
    // A pass that was stopped is ended first.
    if (begun) await this.#goThrough(begun);
    const isAll = now - this.#pass().all >= ALL;
    if (begun?.at !== now) await this.#goThrough({ at: now, isAll, range: 0 });
    while (await context.backend.reclaim?.([])) await this.#pause(performance.now());
    const at = context.clock();
    this.#record = {
      ...this.#record,
      last: { ...this.result, at },
      ...(retention.every !== undefined && { next: at + retention.every }),
    };
    await this.#sweeper?.end(this.#record);
    return this.result;
  }

  get result(): SweepResult {
    return { ...this.#result, damaged: this.#damaged.size };
  }

  /** Returns how far the threads were looked at under these rules. */
  #pass(): Pass {
    return this.#record.passes.find(({ rules }) => rules === this.#rules) ?? { rules: this.#rules, upTo: 0, all: 0 };
  }

  #setPass(pass: Pass): void {
    const others = this.#record.passes.filter(({ rules }) => rules !== this.#rules);
    this.#record = { ...this.#record, passes: [pass, ...others].slice(0, PASSES) };
  }

  async #goThrough(begun: NonNullable<Pass["begun"]>): Promise<void> {
    const { at, isAll } = begun;
    const { upTo, all } = this.#pass();
    const ranges = sweepRanges(this.#store.retention, isAll ? 0 : upTo - LATE, at);
    for (const [place, range] of ranges.entries()) {
      if (place < begun.range) continue;
      let after = place === begun.range ? begun.after : undefined;
      for (;;) {
        this.#options.signal?.throwIfAborted();
        const entries = await this.#entries(range, after);
        await this.#sweep(range, entries);
        after = entries.at(-1);
        if (after === undefined) break;
        this.#setPass({ rules: this.#rules, upTo, all, begun: { at, isAll, range: place, after } });
        await this.#sweeper?.note(this.#record);
        if (entries.length < PAGE) break;
      }
    }
    this.#setPass({ rules: this.#rules, upTo: at, all: isAll ? at : all });
    await this.#sweeper?.note(this.#record);
  }

  async #entries({ from, to }: SweepRange, after: IndexEntry | undefined): Promise<readonly IndexEntry[]> {
    const [found] = await this.#store.context.read([{ find: { from, to, limit: PAGE, ...(after && { after }) } }]);
    return found as readonly IndexEntry[];
  }

  /** Sweeps the threads of some entries, a few at a time. */
  async #sweep(range: SweepRange, entries: readonly IndexEntry[]): Promise<void> {
    const { context } = this.#store;
    const { progress, signal, dryRun } = this.#options;
    const metas = await context.read(entries.map(({ lineage, tape }) => ({ get: metaKey(lineage, tape) })));
    const changed = new Set<number>();
    for (let start = 0; start < entries.length; start += TOGETHER) {
      signal?.throwIfAborted();
      const begun = performance.now();
      const group = entries.slice(start, start + TOGETHER);
      const outcomes = await Promise.all(
        group.map(({ lineage, tape }, index) =>
          this.#sweepOne(range, metas[start + index] as Value | undefined).catch((error: unknown) => {
            if (!isCorrupt(error)) throw error;
            this.#damaged.add(tapeName(lineage, tape));
            return undefined;
          }),
        ),
      );
      for (const outcome of outcomes) if (outcome) this.#count(outcome);
      for (const [index, { lineage }] of group.entries()) {
        if (["whole", "pruned"].includes(outcomes[index]?.outcome ?? "")) changed.add(lineage);
      }
      this.#looked += group.length;
      progress?.(this.#looked);
      await this.#pause(begun);
    }
    if (changed.size === 0 || dryRun) return;
    // A step costs as much as some commits: after each group, it would make every hundredth put of others wait.
    const begun = performance.now();
    await context.backend.reclaim?.([...changed]);
    await this.#pause(begun);
  }

  async #sweepOne(range: SweepRange, value: Value | undefined): Promise<Swept | undefined> {
    if (value === undefined) return undefined;
    const { context, lanes, pruners, retention } = this.#store;
    const { dryRun = false } = this.#options;
    const meta = decodeMeta(value);
    const { thread, index, pruner } = meta;
    const isOwn = range.workflow === undefined ? !retention.workflows.has(index?.w ?? "") : index?.w === range.workflow;
    if (meta.dead || !isOwn) return undefined;
    if (isInUse(meta, context.clock())) return { outcome: "spared", deleted: 0, bytes: 0 };
    // Without the dry run, these threads would be gone by now.
    if (dryRun && range.rule.kind === "checkpoints" && this.#wouldGo(meta, range)) return undefined;
    if (range.rule.kind === "checkpoints" && pruner !== undefined) {
      const handler = pruners.get(pruner);
      if (handler === undefined) return { outcome: "spared", deleted: 0, bytes: 0 };
      const { deleted, bytesReclaimed } = await handler(thread, { ...range.rule.keep, dryRun });
      return { outcome: deleted > 0 ? "pruned" : "kept", deleted, bytes: bytesReclaimed };
    }
    return lanes.of(thread).add(sweepChange(range.rule, dryRun));
  }

  #wouldGo(meta: Meta, { workflow }: SweepRange): boolean {
    const { general, workflows } = this.#store.retention;
    const { threads } = (workflow === undefined ? general : workflows.get(workflow)) ?? general;
    const codes = threads?.status.map((status) => codeOf(status) as StatusCode) ?? [];
    return threads !== undefined && isIdle(meta, codes, this.#store.context.clock() - threads.idle);
  }

  #count({ outcome, deleted, bytes }: Swept): void {
    if (outcome === "whole") this.#result.threads += 1;
    if (outcome === "spared") this.#result.spared += 1;
    this.#result.checkpoints += deleted;
    this.#result.bytes += bytes;
  }

  /** Lets others have the store for a while, in proportion to the time since `begun`. */
  #pause(begun: number): Promise<void> {
    return rest(Math.min(LONGEST_REST, REST * (performance.now() - begun)));
  }
}
