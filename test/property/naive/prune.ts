import type { PruneOptions } from "../../../src/model/interface/options.ts";
import { type Line, lineage, type NaiveThread, remove } from "./thread.ts";

/** Prunes every namespace of a thread; gives how many checkpoints went. */
export function prune(thread: NaiveThread, options: PruneOptions, now: number): number {
  let deleted = 0;
  for (const line of thread.lines.values()) {
    const doomed = doomedOf(line, options, now);
    deleted += options.dryRun === true ? doomed.size : remove(thread, line, doomed);
  }
  return deleted;
}

function doomedOf(line: Line, options: PruneOptions, now: number): ReadonlySet<string> {
  const newest = new Set(line.checkpoints.slice(-Math.max(1, options.keepLast ?? 1)));
  const kept = line.checkpoints.filter(
    (one) =>
      newest.has(one) ||
      (options.olderThan !== undefined && now - one.createdAt < options.olderThan) ||
      (options.keepLabelled === true && one.label !== ""),
  );
  const all = options.ancestors === "protect" ? kept.flatMap((one) => [...lineage(line, one)]) : kept;
  const ids = new Set(all.map(({ id }) => id));
  return new Set(line.checkpoints.map(({ id }) => id).filter((id) => !ids.has(id)));
}
