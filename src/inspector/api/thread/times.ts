import { notedTasks, stepName } from "../../../display/steps/step-name.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import type { TimeFacts, TimeSpan } from "../answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "../api-context.ts";

const MOST_SPANS = 1_000;
/** Steps whose parents are read to learn which tasks ran, where the step itself does not say. */
const MOST_ASKED = 60;
const PATIENCE = 400;

/** Returns the steps of a thread, their parallel tasks, and its nested graphs as spans on one axis of time, oldest first. */
export const threadTimes: Handler<TimeFacts> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  parameters.end();
  const [total, own] = await spansOf(context, thread.id, thread.namespace, 0, MOST_SPANS);
  if (total === 0) throw noSuchThread(thread.id);
  const spans = own;
  const graphs = await context.catalogue.graphs.of(thread.id);
  const inside = graphs.filter(
    ({ namespace }) =>
      namespace.length > thread.namespace.length && thread.namespace.every((part, index) => namespace[index] === part),
  );
  for (const { namespace } of inside.slice(-100)) {
    if (spans.length >= MOST_SPANS) break;
    const depth = Math.ceil((namespace.length - thread.namespace.length) / 2);
    const [, more] = await spansOf(context, thread.id, namespace, depth, MOST_SPANS - spans.length);
    spans.push(...more);
  }
  // Each step is followed by its tasks, then by what ran inside it.
  spans.sort(
    ([left], [right]) =>
      left!.from - right!.from || left!.depth - right!.depth || left!.to - right!.to || left!.step - right!.step,
  );
  return { total, spans: spans.flat() };
};

/** Returns the steps of a namespace, each with its tasks, and how many there are. */
async function spansOf(
  context: ApiContext,
  id: string,
  namespace: readonly string[],
  depth: number,
  limit: number,
): Promise<[number, (readonly TimeSpan[])[]]> {
  const { rows, positions } = await context.timelines.of(id, namespace);
  const shown = rows.slice(0, limit);
  const parentOf = (row: CheckpointInfo): CheckpointInfo | undefined =>
    row.parent === null ? undefined : rows[positions.get(row.parent) ?? -1];
  const unnamed = shown.filter(
    (row) => row.source === "loop" && (row.node === null || (parentOf(row)?.pending ?? 0) > 1),
  );
  await context.summaries.make(unnamed.slice(0, MOST_ASKED), PATIENCE);
  const spans = shown.map((row): readonly TimeSpan[] => {
    const { step, createdAt } = row;
    const { ran = [], tasks = [] } = context.summaries.get(row) ?? {};
    const from = parentOf(row)?.createdAt ?? createdAt;
    const place = { namespace, id: row.id, step };
    const whole = { ...place, depth, name: stepName(row, ran), from, to: createdAt, isTask: false, isTimed: true };
    const noted = notedTasks(row);
    const timed = noted.map(([node, before, took], index): TimeSpan => {
      const name = (tasks.length === noted.length ? tasks[index] : undefined) ?? node;
      const begun = Math.max(from, createdAt - before);
      const to = Math.min(createdAt, begun + took);
      return { ...place, depth: depth + 1, name, from: begun, to, isTask: true, isTimed: true };
    });
    if (timed.length > 0) return [whole, ...timed.sort((left, right) => left.from - right.from)];
    const untimed = row.source === "loop" ? tasks : [];
    return [
      whole,
      ...untimed.map(
        (name): TimeSpan => ({ ...place, depth: depth + 1, name, from, to: createdAt, isTask: true, isTimed: false }),
      ),
    ];
  });
  return [rows.length, spans];
}
