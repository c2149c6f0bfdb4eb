import type { Found } from "../../backend.ts";
import type { ResumableOptions } from "../../model/interface/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { announce } from "../../platform/diagnostics.ts";
import type { Committer } from "../commits/group-commit.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import { decodeMeta } from "../records/meta.ts";
import { compactLineage } from "./compact-lineage.ts";

/** Objects outside the store that no record names are deleted once they are older than this. */
const LEFTOVER_AGE = 24 * 60 * 60 * 1000;

/** Removes from storage the rows and writes that no thread shows any more, lineage by lineage, then compacts the backend. */
export async function compactStore(
  context: Context,
  committer: Committer,
  { progress, signal, after }: ResumableOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const faults: unknown[] = [];
  let done = 0;
  const objects = new Set<string>();
  let complete = after === undefined;
  const onFault = (_: string, error: unknown): void => void faults.push(error);
  for await (const tape of allThreads(context, { onFault, ...(after !== undefined && { after }) })) {
    signal?.throwIfAborted();
    try {
      if (await leadsLineage(context, tape)) {
        const isDone = await compactUntilDone(context, committer, tape.lineage, signal, objects);
        complete &&= isDone;
      }
    } catch (error) {
      // A damaged lineage is left as it is, and the others are still compacted.
      if (!isCorrupt(error)) throw error;
      faults.push(error);
    }
    done += 1;
    progress?.(done, tape.meta.thread);
  }
  signal?.throwIfAborted();
  if (complete && faults.length === 0) await sweepObjects(context, objects, signal);
  await context.backend.compact();
  announce("sweep", {});
  if (faults.length > 0) throw faults[0];
}

/** Meta records that are read to find the first living thread of a lineage. */
const METAS = 16;

/**
 * Tells whether a tape is the first of its lineage that has a thread. A lineage is compacted when its leader comes up in the
 * list of threads: so nothing has to be remembered of the others.
 */
async function leadsLineage(context: Context, { lineage, number }: Tape): Promise<boolean> {
  for (let from = 0; ; ) {
    const range = { table: "meta", lineage, group: lineage, from } as const;
    const [found] = (await context.read([{ scan: range, limit: METAS }])) as readonly [readonly Found[]];
    for (const { item, value } of found) if (!decodeMeta(value).dead) return item === number;
    if (found.length < METAS) return false;
    from = (found.at(-1) as Found).item + 1;
  }
}

/** Compacts a lineage. Resolves to false for one that others never stop writing to: it is left for the next compaction. */
async function compactUntilDone(
  context: Context,
  committer: Committer,
  lineage: number,
  signal: AbortSignal | undefined,
  objects: Set<string>,
): Promise<boolean> {
  const stays = (object: string): void => void objects.add(object);
  for (const attempts = new Attempts(); ; ) {
    if (await compactLineage(context, committer, lineage, signal, stays)) return true;
    if (!(await attempts.again())) return false;
  }
}

/**
 * Deletes objects outside the store that no record names: uploads whose commit never came, and objects whose deletion
 * failed. Young ones stay, since their commit may be under way.
 */
async function sweepObjects(
  context: Context,
  named: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const now = context.clock();
  for await (const { name, at } of context.outside.list()) {
    signal?.throwIfAborted();
    if (!named.has(name) && now - at > LEFTOVER_AGE) await context.outside.sweep(name);
  }
}
