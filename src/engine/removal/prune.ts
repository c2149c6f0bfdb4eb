import type { PruneOptions } from "../../model/arguments.ts";
import { prunedSeqs } from "../../model/retention.ts";
import type { Change } from "../commits/lane.ts";
import type { Engine } from "../engine.ts";
import { type Candidate, type Removed, removeChange } from "./remove.ts";

/** Deletes what these options do not keep of a thread. */
export function pruneChange(engine: Engine, options: PruneOptions): Change<Removed> {
  return removeChange(pruneChoice(engine, options), options.dryRun ?? false);
}

/** What a prune with these options removes of what a thread shows. */
function pruneChoice(
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
