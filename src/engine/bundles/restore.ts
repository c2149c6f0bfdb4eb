import { ThreadmarkError } from "../../errors.ts";
import type { RestoreResult } from "../../model/interface/results.ts";
import type { WorkOptions } from "../../model/interface/store-options.ts";
import { deleteThreadChange } from "../changes/delete-thread.ts";
import { checkLease } from "../changes/lease.ts";
import type { Lanes } from "../commits/lanes.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import type { EngineContext } from "../memory/context.ts";
import { importThread } from "./import.ts";
import { type BundleSource, readBundle } from "./read-bundle.ts";
import { beginRestore, endRestore } from "./store-notes.ts";

/**
 * Restores backups, each after the one that it goes on from. All of them are read through first, so that a damaged one changes
 * nothing, and the store says that it is not whole until the end. Threads of their names are replaced, and threads that were deleted since the backup before are deleted.
 */
export async function restoreBackups(
  context: EngineContext,
  lanes: Lanes,
  sources: readonly (() => BundleSource)[],
  { progress, signal }: WorkOptions,
): Promise<RestoreResult> {
  let cursor: string | null = null;
  for (const [index, source] of sources.entries()) {
    await readBundle(context, source(), signal, {
      header({ backup }) {
        const since = backup?.since ?? null;
        if (since !== null && since !== cursor) throw outOfOrder(index);
        cursor = backup?.cursor ?? null;
      },
      async thread() {},
      async deleted() {},
    });
  }
  await beginRestore(context, lanes);
  const counts = { restored: 0, deleted: 0, checkpoints: 0 };
  for (const source of sources) {
    await readBundle(context, source(), signal, {
      header() {},
      async thread(thread) {
        await lanes.of(thread.id).add(makeRoom());
        await importThread(context, lanes, thread);
        counts.restored += 1;
        counts.checkpoints += thread.checkpoints.length;
        progress?.(counts.restored);
      },
      async deleted(id) {
        await lanes.of(id).add(makeRoom());
        counts.deleted += 1;
      },
    });
  }
  await endRestore(lanes);
  return { ...counts, cursor };
}

/** Deletes a thread that nobody has leased. */
function makeRoom(): ThreadChange<void> {
  const { plan, ...change } = deleteThreadChange();
  return {
    ...change,
    plan: async (draft) => {
      if (draft.existing) checkLease(draft, undefined);
      await plan(draft);
    },
  };
}

function outOfOrder(index: number): ThreadmarkError {
  return new ThreadmarkError(
    "CONFLICT",
    `Backup ${index + 1} goes on from another backup than the one before it. Give all backups in order, the whole one first.`,
  );
}
