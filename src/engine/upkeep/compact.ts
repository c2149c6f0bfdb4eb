import type { WorkOptions } from "../../model/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { announce } from "../../platform/diagnostics.ts";
import type { Committer } from "../commits/group-commit.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import { allThreads } from "../reads/directory.ts";
import { compactLineage } from "./compact-lineage.ts";

/** Objects outside the store that no record names are deleted once they are older than this. */
const LEFTOVER_AGE = 24 * 60 * 60 * 1000;

/** Removes from storage the rows and writes that no thread shows any more, lineage by lineage, then compacts the backend. */
export async function compactStore(
  context: Context,
  committer: Committer,
  { progress, signal }: WorkOptions,
): Promise<void> {
  signal?.throwIfAborted();
  /** How many threads each lineage has. */
  const lineages = new Map<number, number>();
  const faults: unknown[] = [];
  for await (const tape of allThreads(context, { onFault: (_, error) => faults.push(error) })) {
    signal?.throwIfAborted();
    lineages.set(tape.lineage, (lineages.get(tape.lineage) ?? 0) + 1);
  }
  let done = 0;
  const objects = new Set<string>();
  let complete = true;
  for (const [lineage, threads] of lineages) {
    try {
      const attempts = new Attempts();
      while (!(await compactLineage(context, committer, lineage, signal, (object) => objects.add(object)))) {
        // A lineage that others never stop writing to is left for the next compaction.
        if (await attempts.again()) continue;
        complete = false;
        break;
      }
    } catch (error) {
      // A damaged lineage is left as it is, and the others are still compacted.
      if (!isCorrupt(error)) throw error;
      faults.push(error);
    }
    done += threads;
    progress?.(done);
    signal?.throwIfAborted();
  }
  if (complete && faults.length === 0) await sweepObjects(context, objects, signal);
  await context.backend.compact();
  announce("sweep", {});
  if (faults.length > 0) throw faults[0];
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
