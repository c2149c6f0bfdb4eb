import { type Duration, millisecondsOf } from "./duration.ts";

/** The statuses of threads that a sweep may delete. Waiting and running ones are always spared. */
export type SweptStatus = "done" | "failed" | "cancelled" | "paused";

/** Rules for the threads of a store, or of one workflow. Without a rule nothing goes. */
export interface RetentionRules {
  /** Which old checkpoints go, as in `prune`: needs `keepLast`, `olderThan` or both. @default none */
  readonly checkpoints?: {
    /** How many of the newest stay, in each namespace. @default 1 */
    readonly keepLast?: number;
    /** Younger checkpoints stay. @default age does not matter */
    readonly olderThan?: Duration;
    /** Labelled checkpoints stay. @default false */
    readonly keepLabelled?: boolean;
    /** `protect`: ancestors of checkpoints that stay, stay. @default "truncate" */
    readonly ancestors?: "truncate" | "protect";
  };
  /** Which threads go as a whole. @default none */
  readonly threads?: {
    /** How long a thread has had no new checkpoint. */
    readonly idle: Duration;
    /** Only threads of these statuses. @default ["done", "failed", "cancelled"] */
    readonly status?: readonly SweptStatus[];
  };
}

/** Rules for the whole store, and how often they are applied by themselves. */
export interface RetentionOptions extends RetentionRules {
  /** Rules of single workflows, in place of the general ones; `{}` keeps everything. @default none */
  readonly workflows?: { readonly [workflow: string]: RetentionRules };
  /** How often one of the processes that have the store open sweeps it. @default only `sweep` itself does */
  readonly every?: Duration;
}

/** The result of `sweep`. */
export interface SweepResult {
  /** Threads that went, or would go with `dryRun`. */
  readonly threads: number;
  /** Checkpoints that went from threads that stay. */
  readonly checkpoints: number;
  /** Bytes that nothing reaches any more, less those that had to be rewritten. */
  readonly bytes: number;
  /** Threads that the rules name and that were left alone: leased, about to go on, or marked as in need of a handler. */
  readonly spared: number;
  /** Threads that were looked at, cannot be read, and were left alone: `verify` names them. */
  readonly damaged: number;
}

/** The last sweep of a store, as `stats` tells it. */
export interface SweepReport extends SweepResult {
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  /** When the next one is due; null where nobody said `every`. */
  readonly next: number | null;
}

/** Rules with their defaults, in milliseconds. */
export interface SweepRules {
  readonly checkpoints: CheckpointRules | undefined;
  readonly threads: { readonly idle: number; readonly status: readonly SweptStatus[] } | undefined;
}

export interface CheckpointRules {
  readonly keepLast: number;
  readonly olderThan?: number;
  readonly keepLabelled: boolean;
  readonly ancestors: "truncate" | "protect";
}

/** The retention of a store with its defaults. */
export interface StoreRetention {
  readonly general: SweepRules;
  readonly workflows: ReadonlyMap<string, SweepRules>;
  readonly every: number | undefined;
}

/** Returns validated options with their defaults. */
export function retentionRules(options: RetentionOptions): StoreRetention {
  const { workflows = {}, every } = options;
  return {
    general: rulesOf(options),
    workflows: new Map(Object.entries(workflows).map(([workflow, rules]) => [workflow, rulesOf(rules)])),
    every: every === undefined ? undefined : (millisecondsOf(every) as number),
  };
}

function rulesOf({ checkpoints, threads }: RetentionRules): SweepRules {
  return {
    checkpoints: checkpoints && {
      keepLast: checkpoints.keepLast ?? 1,
      ...(checkpoints.olderThan !== undefined && { olderThan: millisecondsOf(checkpoints.olderThan) as number }),
      keepLabelled: checkpoints.keepLabelled ?? false,
      ancestors: checkpoints.ancestors ?? "truncate",
    },
    threads: threads && {
      idle: millisecondsOf(threads.idle) as number,
      status: [...(threads.status ?? ["done", "failed", "cancelled"])],
    },
  };
}

/** Times of last activity: `from` is exclusive, `to` inclusive. */
export interface ActivityWindow {
  readonly from: number;
  readonly to: number;
}

/** A quiet thread is looked at this often until its last checkpoint is older than `olderThan`. */
const LOOKS = 8;

/**
 * Returns the times of last activity of the threads in which checkpoints may have to go at `now`, if all were swept at
 * `last`. Threads that were active since have new checkpoints. In quiet threads, checkpoints grow old: such a thread is
 * looked at whenever another eighth of `olderThan` has passed, so no checkpoint stays longer than that beyond its time.
 */
export function sweepWindows({ olderThan }: CheckpointRules, last: number, now: number): readonly ActivityWindow[] {
  if (last <= 0) return [{ from: Number.NEGATIVE_INFINITY, to: now }];
  const windows: { from: number; to: number }[] = [];
  for (let look = olderThan === undefined ? 0 : LOOKS; look >= 0; look -= 1) {
    const age = (look * (olderThan ?? 0)) / LOOKS;
    const window = { from: last - age, to: now - age };
    const before = windows.at(-1);
    if (before && window.from <= before.to) before.to = window.to;
    else windows.push(window);
  }
  return windows;
}
