import type { PruneOptions } from "../model/arguments.ts";
import { prunedSeqs } from "../model/retention.ts";
import type { Engine } from "./engine.ts";
import type { Candidate } from "./remove.ts";

/** What a prune with these options removes of what a thread shows. */
export function pruneChoice(
  engine: Engine,
  { keepLast = 1, olderThan, keepLabelled = false, ancestors = "truncate" }: PruneOptions,
): (rows: readonly Candidate[]) => ReadonlySet<number> {
  return (rows) =>
    prunedSeqs(
      rows.map(({ row, parent }) => ({ ...row, parent })),
      {
        keepLast,
        youngerThan: olderThan === undefined ? undefined : engine.clock() - olderThan,
        keepLabelled,
        protectAncestors: ancestors === "protect",
      },
    );
}
