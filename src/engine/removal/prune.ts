import type { PruneOptions } from "../../model/options.ts";
import { prunedSeqs, retentionOf } from "../../model/retention.ts";
import type { Change } from "../commits/lane.ts";
import type { Context } from "../memory/context.ts";
import type { Candidate } from "./candidate.ts";
import { type Removed, removeChange } from "./remove.ts";

/** Deletes what these options do not keep of a thread. */
export function pruneChange(context: Context, options: PruneOptions): Change<Removed> {
  return removeChange(pruneChoice(context, options), options.dryRun ?? false);
}

/** Returns the choice of a prune among the rows that a thread shows. */
function pruneChoice(context: Context, options: PruneOptions): (rows: readonly Candidate[]) => ReadonlySet<number> {
  return (rows) =>
    prunedSeqs(
      rows.map(({ row, parent }) => ({ ...row, parent })),
      retentionOf(options, context.clock()),
    );
}
