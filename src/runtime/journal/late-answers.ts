import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple, Write } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { Values } from "../graph/reducers.ts";

/**
 * Reads the head of a thread with every answer to its open questions. A program that answers with `putWrites` may have read
 * the head before the run put its position again: then its answer is with an earlier checkpoint of the same step.
 */
export async function headOf(thread: Thread<Values>): Promise<CheckpointTuple<Values> | undefined> {
  const head = await thread.tuple();
  if (head === undefined || head.checkpoint.interrupts.length === 0) return head;
  const open = new Set(head.checkpoint.interrupts.map(({ id }) => id));
  for (const { task, index } of head.writes) if (index === controlIndexes.resume) open.delete(task);
  const late: Write[] = [];
  let child = head.checkpoint;
  while (open.size > 0 && child.parent !== null) {
    const before: CheckpointTuple<Values> | undefined = await thread.tuple(child.parent);
    if (before === undefined || !isSameStep(before, child)) break;
    for (const write of before.writes) {
      if (write.index !== controlIndexes.resume || !open.has(write.task)) continue;
      open.delete(write.task);
      late.push(write);
    }
    child = before.checkpoint;
  }
  return late.length === 0 ? head : { ...head, writes: [...head.writes, ...late] };
}

/** Tells whether a checkpoint puts the position of the one before it again, in the same run. */
function isSameStep({ checkpoint }: CheckpointTuple<Values>, child: CheckpointTuple<Values>["checkpoint"]): boolean {
  // A fork answers anew.
  if (checkpoint.run !== child.run || child.source === "fork") return false;
  return checkpoint.step === child.step || (child.source === "update" && checkpoint.step + 1 === child.step);
}
