import type { Found } from "../../backend.ts";
import type { ResumableOptions } from "../../model/interface/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { announce } from "../../platform/diagnostics.ts";
import type { Committer } from "../commits/group-commit.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import { decodeMeta } from "../records/meta.ts";
import { compactLineage } from "./compact-lineage.ts";
import { sweepObjects } from "./sweep-objects.ts";
import { removeLostRuns } from "./wrong-entries.ts";

/** Removes from storage the rows and writes that no thread shows any more, lineage by lineage, then compacts the backend. */
export async function compactStore(
  context: EngineContext,
  committer: Committer,
  { progress, signal, after }: ResumableOptions,
): Promise<void> {
  signal?.throwIfAborted();
  // A compaction that goes on behind a thread has done this before its first one.
  if (after === undefined) await removeLostRuns(context, committer, signal);
  let fault: unknown;
  let done = 0;
  const onFault = (_: string, error: unknown): void => {
    fault ??= error;
  };
  for await (const tape of allThreads(context, { onFault, ...(after !== undefined && { after }) })) {
    signal?.throwIfAborted();
    try {
      if (await leadsLineage(context, tape)) await compactUntilDone(context, committer, tape.lineage, signal);
    } catch (error) {
      // A damaged lineage is left as it is, and the others are still compacted.
      if (!isCorrupt(error)) throw error;
      fault ??= error;
    }
    done += 1;
    progress?.(done, tape.meta.thread);
  }
  signal?.throwIfAborted();
  // A damaged store may be mended from a backup, whose records name objects that no record names now.
  if (fault === undefined) await sweepObjects(context, signal);
  await context.backend.compact();
  announce("sweep", {});
  if (fault !== undefined) throw fault;
}

/** Meta records that are read to find the first living thread of a lineage. */
const METAS = 16;

/**
 * Tells whether a tape is the first of its lineage that has a thread. A lineage is compacted when its leader comes up in the
 * list of threads: so nothing has to be remembered of the others.
 */
async function leadsLineage(context: EngineContext, { lineage, number }: Tape): Promise<boolean> {
  for (let from = 0; ; ) {
    const range = { table: "meta", lineage, group: lineage, from } as const;
    const [found] = (await context.read([{ scan: range, limit: METAS }])) as readonly [readonly Found[]];
    for (const { item, value } of found) if (!decodeMeta(value).dead) return item === number;
    if (found.length < METAS) return false;
    from = (found.at(-1) as Found).item + 1;
  }
}

/** Compacts a lineage. If others never stop writing to it, it is left for the next compaction. */
async function compactUntilDone(
  context: EngineContext,
  committer: Committer,
  lineage: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const attempts = new Attempts(); ; ) {
    if (await compactLineage(context, committer, lineage, signal)) return;
    if (!(await attempts.again())) return;
  }
}
