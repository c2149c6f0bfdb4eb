import type { Thread } from "../../../api/thread.ts";
import { changeSummary } from "../../../display/steps/changes.ts";
import { ranIn, stepName } from "../../../display/steps/step-name.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { Checkpoint, CheckpointInfo } from "../../../model/checkpoint.ts";
import type { State } from "../../session.ts";

/** Reading states is worth this long for a list; checkpoints that are not reached go without a summary. */
const PATIENCE = 400;

/** A checkpoint as a list shows it: a line on what its step changed, and the name of the step. */
export interface StepText {
  readonly change: string;
  readonly name: string;
}

/** Says what each of some checkpoints changed, by id: of those whose parent is among them, and as far as time allows. */
export async function summariesOf(
  thread: Thread<State>,
  rows: readonly CheckpointInfo[],
): Promise<ReadonlyMap<string, StepText>> {
  const summaries = new Map<string, StepText>();
  const settle = (info: CheckpointInfo, state: State, before: Checkpoint<State> | undefined): void => {
    const name = stepName(info, ranIn(info, before?.next));
    summaries.set(info.id, { change: changeSummary(before?.state, state), name });
  };
  const [first] = rows;
  if (first === undefined) return summaries;
  const wanted = new Set(rows.map(({ id }) => id));
  const waiting = new Map<string, Checkpoint<State>[]>();
  const until = performance.now() + PATIENCE;
  try {
    for await (const checkpoint of thread.history({ before: first.seq + 1, states: true })) {
      const { id, parent, state } = checkpoint;
      for (const child of waiting.get(id) ?? []) settle(child, child.state, checkpoint);
      waiting.delete(id);
      if (wanted.delete(id)) {
        if (parent === null) settle(checkpoint, state, undefined);
        else waiting.set(parent, [...(waiting.get(parent) ?? []), checkpoint]);
      }
      if ((wanted.size === 0 && waiting.size === 0) || performance.now() > until) break;
    }
  } catch (error) {
    // A list needs no states: it says which one does not read, and goes without summaries from there on.
    if (!ThreadmarkError.is(error, "CORRUPT")) throw error;
    const damaged = rows.find(({ id }) => id === error.checkpoint);
    if (damaged) summaries.set(damaged.id, { change: "(damaged: see verify)", name: stepName(damaged) });
  }
  return summaries;
}
