import { setDue } from "../../api/adapter.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { LeaseToken } from "../../model/interface/options.ts";
import { RunError } from "../errors.ts";
import type { Values } from "../graph/reducers.ts";
import { controlWrite } from "../position/step-progress.ts";

/** The task under which a head notes how often workers have taken it up. */
export const RECOVERIES = "recoveries";

/**
 * Notes at the head that a worker takes its run up once more. A run that is taken up again and again without a step forward
 * kills its workers: after `most` recoveries it is marked as failed, and this throws.
 */
export async function noteRecovery(
  thread: Thread<Values>,
  { checkpoint, writes }: CheckpointTuple,
  lease: LeaseToken,
  most: number,
): Promise<void> {
  const noted = writes.find(({ task, index }) => task === RECOVERIES && index === controlIndexes.scheduled)?.value;
  const count = typeof noted === "number" ? noted : 0;
  const { id, next, run, thread: name } = checkpoint;
  if (count <= most) {
    await thread.putWrites(id, { task: RECOVERIES, writes: [controlWrite("scheduled", count + 1)] }, { lease });
    return;
  }
  const message = `The run of thread "${name}" was taken up ${count} times after step ${checkpoint.step}, and ended no task of it: its workers died. Find out why, then resume it.`;
  const error = { code: "GAVE_UP", name: "RunError", message };
  const [first] = next;
  const task = first?.task ?? `${checkpoint.step}.0`;
  await thread.putWrites(id, { task, node: first?.node ?? null, writes: [controlWrite("error", error)] }, { lease });
  await setDue(thread, null, lease);
  throw new RunError("GAVE_UP", message, { thread: name, run: run ?? undefined, step: checkpoint.step });
}

/** Begins to count anew: the worker was stopped, it did not die. */
export async function forgetRecoveries(thread: Thread<Values>, lease: LeaseToken): Promise<void> {
  for await (const { id } of thread.history({ limit: 1 })) {
    await thread.putWrites(id, { task: RECOVERIES, writes: [controlWrite("scheduled", 0)] }, { lease });
  }
}
