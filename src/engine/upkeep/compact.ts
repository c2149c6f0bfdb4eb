import type { WorkOptions } from "../../model/options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { nextTurn } from "../../platform/turns.ts";
import type { Committer } from "../commits/group-commit.ts";
import { isCorrupt } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import { allThreads } from "../reads/directory.ts";
import { compactLineage } from "./compact-lineage.ts";

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
  for (const [lineage, threads] of lineages) {
    await nextTurn();
    try {
      const attempts = new Attempts();
      while (!(await compactLineage(context, committer, lineage))) {
        // A lineage that others never stop writing to is left for the next compaction.
        if (!(await attempts.again())) break;
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
  await context.backend.compact();
  if (faults.length > 0) throw faults[0];
}
