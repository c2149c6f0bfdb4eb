import type { WorkOptions } from "../../model/interface/store-options.ts";
import { nextTurn } from "../../platform/turns.ts";
import type { Committer } from "../commits/group-commit.ts";
import type { Lanes } from "../commits/lanes.ts";
import { shownEnds } from "../commits/settle-index.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { DamagedThreads } from "../faults/damaged-threads.ts";
import type { EngineContext } from "../memory/context.ts";
import { directoryPages } from "../reads/directory.ts";
import { COMPLETE } from "../records/store-wide/index-entries.ts";
import { shownRows } from "../view/shown-rows.ts";
import { removeEntries, wrongEntries } from "./wrong-entries.ts";

/** Threads whose entries are made at the same time. */
const TOGETHER = 16;

/**
 * Makes the entries of every thread anew, thread by thread, while others write; removes entries that tell something wrong, and
 * notes that the index is complete. Stopped, it leaves the entries that it has made. Damaged threads keep the entries they
 * have, and are returned.
 */
export async function reindexStore(
  context: EngineContext,
  lanes: Lanes,
  committer: Committer,
  { progress, signal }: WorkOptions,
): Promise<{ readonly threads: number; readonly damaged: DamagedThreads }> {
  signal?.throwIfAborted();
  const damaged = new DamagedThreads();
  let done = 0;
  for await (const page of directoryPages(context, {})) {
    for (let start = 0; start < page.length; start += TOGETHER) {
      signal?.throwIfAborted();
      const group = page.slice(start, start + TOGETHER);
      await Promise.all(
        group.map(({ id }) =>
          lanes
            .of(id)
            .add(reindexChange())
            .catch((error: unknown) => damaged.add(id, error)),
        ),
      );
      done += group.length;
      progress?.(done);
      await nextTurn();
    }
  }
  for await (const entries of wrongEntries(context)) {
    signal?.throwIfAborted();
    await removeEntries(committer, entries);
  }
  await committer.commit({ entries: { add: [{ text: COMPLETE, lineage: 1, tape: 0 }] } });
  context.index.complete();
  return { threads: done, damaged };
}

function reindexChange(): ThreadChange<void> {
  return {
    fresh: true,
    plan: async (draft) => {
      const tape = draft.existing;
      if (!tape) return;
      const runs = new Set<string>();
      for await (const { run } of shownRows(draft.context, tape)) if (run !== null) runs.add(run);
      draft.shown = { ...(await shownEnds(draft, tape)), runs };
      draft.reindexes = true;
      draft.closed = true;
    },
  };
}
