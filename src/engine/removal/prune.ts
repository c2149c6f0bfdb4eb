import type { PruneOptions } from "../../model/options.ts";
import { prunedSeqs, retentionOf } from "../../model/retention.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { RemoveChange, type Removed } from "./remove.ts";

/** Deletes the checkpoints of a thread that the options do not keep. */
export function pruneChange(options: PruneOptions): ThreadChange<Removed> {
  return new RemoveChange(
    (rows, now) =>
      prunedSeqs(
        rows.map(({ row, parent }) => ({ ...row, parent })),
        retentionOf(options, now),
      ),
    options.dryRun ?? false,
  );
}
