import type { Thread } from "../../../api/thread.ts";
import { changeSummary } from "../../../display/steps/changes.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import type { State } from "../../session.ts";

/** Reading states is worth this long for a list; checkpoints that are not reached go without a summary. */
const PATIENCE = 400;

/** Says what each of some checkpoints changed, by id: of those whose parent is among them, and as far as time allows. */
export async function summariesOf(
  thread: Thread<State>,
  rows: readonly CheckpointInfo[],
): Promise<ReadonlyMap<string, string>> {
  const summaries = new Map<string, string>();
  const [first] = rows;
  if (first === undefined) return summaries;
  const wanted = new Set(rows.map(({ id }) => id));
  const waiting = new Map<string, { readonly id: string; readonly state: State }[]>();
  const until = performance.now() + PATIENCE;
  for await (const { id, parent, state } of thread.history({ before: first.seq + 1, states: true })) {
    for (const child of waiting.get(id) ?? []) summaries.set(child.id, changeSummary(state, child.state));
    waiting.delete(id);
    if (wanted.delete(id)) {
      if (parent === null) summaries.set(id, changeSummary(undefined, state));
      else waiting.set(parent, [...(waiting.get(parent) ?? []), { id, state }]);
    }
    if ((wanted.size === 0 && waiting.size === 0) || performance.now() > until) break;
  }
  return summaries;
}
