import { ThreadmarkError } from "../../errors.ts";
import type { PruneOptions } from "../../model/interface/options.ts";
import { prunedSeqs, retentionOf } from "../../model/retention/retention.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { RemoveChange, type Removed } from "./remove.ts";

/**
 * Deletes the checkpoints of a thread that the options do not keep. `UNSUPPORTED` for a marked thread (see `Meta.pruner`),
 * unless it is the handler that prunes.
 */
export function pruneChange(options: PruneOptions, isHandler = false): ThreadChange<Removed> {
  const change = removal(options);
  return {
    fresh: true,
    plan: async (draft) => {
      const pruner = draft.existing?.meta.pruner;
      if (pruner !== undefined && !isHandler) throw needsHandler(draft.thread, pruner);
      return change.plan(draft);
    },
  };
}

/** Returns the error for a thread that only its handler can prune. */
function needsHandler(thread: string, pruner: string): ThreadmarkError {
  return new ThreadmarkError(
    "UNSUPPORTED",
    `Thread ${JSON.stringify(thread)}: its checkpoints need each other in a way that only ${pruner} knows. Use the store with ` +
      "ThreadmarkSaver (LangGraph) in the process that prunes it.",
    { thread },
  );
}

function removal(options: PruneOptions): RemoveChange {
  return new RemoveChange(
    (rows, now) =>
      prunedSeqs(
        rows.map(({ row, parent }) => ({ ...row, parent })),
        retentionOf(options, now),
      ),
    options.dryRun ?? false,
  );
}
