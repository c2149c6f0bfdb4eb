import type { PruneOptions } from "../interface/options.ts";

/** The facts about a checkpoint that a prune decides by. */
export interface Prunable {
  readonly seq: number;
  readonly namespace: string;
  /** The seq of the parent as shown; 0 for none. */
  readonly parent: number;
  readonly label: string;
  readonly createdAt: number;
}

export interface Retention {
  /** How many of the newest of each namespace stay; 0 counts as 1. */
  readonly keepLast: number;
  /** Checkpoints created after this moment stay; undefined: age does not matter. */
  readonly youngerThan: number | undefined;
  readonly keepLabelled: boolean;
  /** Whether the ancestors of what stays, stay. */
  readonly protectAncestors: boolean;
}

/** Returns the retention that the options of a prune ask for, with their defaults. `now` is the time of the store's clock. */
export function retentionOf(
  { keepLast = 1, olderThan, keepLabelled = false, ancestors = "truncate" }: PruneOptions,
  now: number,
): Retention {
  return {
    keepLast,
    youngerThan: olderThan === undefined ? undefined : now - olderThan,
    keepLabelled,
    protectAncestors: ancestors === "protect",
  };
}

/** Returns the seqs that go. `rows` are all of a thread's, newest first. */
export function prunedSeqs(rows: readonly Prunable[], retention: Retention): ReadonlySet<number> {
  const keepLast = Math.max(1, retention.keepLast);
  const { youngerThan } = retention;
  const counts = new Map<string, number>();
  const kept = new Set<number>();
  for (const row of rows) {
    const count = counts.get(row.namespace) ?? 0;
    counts.set(row.namespace, count + 1);
    const young = youngerThan !== undefined && row.createdAt > youngerThan;
    const labelled = retention.keepLabelled && row.label !== "";
    // A parent is older than its children, so by the time it comes up here they have spoken for it.
    if (count < keepLast || young || labelled || kept.has(row.seq)) {
      kept.add(row.seq);
      if (retention.protectAncestors && row.parent !== 0) kept.add(row.parent);
    }
  }
  return new Set(rows.map((row) => row.seq).filter((seq) => !kept.has(seq)));
}

/** Joins neighbouring seqs into ranges: a range covers no seq of `all` that is not in `some`. Both ascending. */
export function rangesOf(some: ReadonlySet<number>, all: readonly number[]): (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  let open: [number, number] | undefined;
  for (const seq of all) {
    if (!some.has(seq)) open = undefined;
    else if (open) open[1] = seq;
    else {
      open = [seq, seq];
      ranges.push(open);
    }
  }
  return ranges;
}
