import type { Found } from "../../backend.ts";
import type { ResumableOptions } from "../../model/interface/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { announce } from "../../platform/diagnostics.ts";
import type { Committer } from "../commits/group-commit.ts";
import { ifDamaged, isCorrupt } from "../faults/damage.ts";
import { DamagedThreads } from "../faults/damaged-threads.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import { decodeMeta } from "../records/meta.ts";
import { compactLineage } from "./compact-lineage.ts";
import { sweepObjects } from "./sweep-objects.ts";
import { removeLostRuns } from "./wrong-entries.ts";

/**
 * Removes from storage the rows and writes that no thread shows any more, lineage by lineage, then compacts the backend. A
 * damaged lineage is left as it is, and `CORRUPT` names its threads once all others are done.
 */
export async function compactStore(
  context: EngineContext,
  committer: Committer,
  { progress, signal, after }: ResumableOptions,
): Promise<void> {
  signal?.throwIfAborted();
  // A compaction that goes on behind a thread has done this before its first one.
  if (after === undefined) await removeLostRuns(context, committer, signal);
  const damaged = new DamagedThreads();
  let done = 0;
  const onFault = (thread: string, error: unknown): void => damaged.add(thread, error);
  for await (const tape of allThreads(context, { onFault, ...(after !== undefined && { after }) })) {
    signal?.throwIfAborted();
    try {
      if (await leadsLineage(context, tape)) await compactUntilDone(context, committer, tape.lineage, signal);
    } catch (error) {
      damaged.add(await damagedThread(context, error, tape), error);
    }
    done += 1;
    progress?.(done, tape.meta.thread);
  }
  signal?.throwIfAborted();
  // A damaged store may be mended from a backup, whose records name objects that no record names now.
  if (damaged.count === 0) await sweepObjects(context, signal);
  await context.backend.compact();
  announce("sweep", damaged.count === 0 ? {} : { damaged: damaged.count });
  const outside = context.outside.isUsed ? " Leftovers outside the store were not looked for." : "";
  damaged.throwIfAny(`They are as they were, and all others are compacted.${outside}`, "compact");
}

/** Returns the living thread that a fault names, which may be a fork of the one whose lineage was compacted. */
async function damagedThread(context: EngineContext, fault: unknown, { meta }: Tape): Promise<string> {
  if (!isCorrupt(fault) || fault.thread === undefined) return meta.thread;
  const found = await context.thread(fault.thread).catch((error: unknown) => ifDamaged(error) ?? { meta: fault });
  return found?.meta.thread ?? meta.thread;
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
