import { setImmediate as turn } from "node:timers/promises";
import { follow } from "../../../display/values/parts.ts";
import { previewOf } from "../../../display/values/preview.ts";
import { isSame } from "../../../display/values/same.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { isStep } from "../../http/request-parameters.ts";
import type { Blame, CompareFacts, CompareSide } from "../answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "../api-context.ts";

const MOST_ROWS = 2_000;

/** Returns two threads side by side, aligned by step: the past they share once, then each its own. */
export const compareThreads: Handler<CompareFacts> = async (context, parameters) => {
  const [left, right] = [parameters.text("left"), parameters.text("right")];
  parameters.end();
  const [one, other] = await Promise.all([lineOf(context, left), lineOf(context, right)]);
  const shared = new Set(one.map(({ id }) => id));
  const common = other.filter(({ id }) => shared.has(id)).length;
  const steps = new Map<string, { step: number; nth: number; left?: CheckpointInfo; right?: CheckpointInfo }>();
  for (const [side, line] of [["left", one] as const, ["right", other] as const]) {
    // A fork with edits, and an update, have the step of the checkpoint before them: they are told apart by their order.
    const seen = new Map<number, number>();
    for (const row of line.toReversed()) {
      const nth = seen.get(row.step) ?? 0;
      seen.set(row.step, nth + 1);
      const key = `${row.step} ${nth}`;
      steps.set(key, { step: row.step, nth, ...steps.get(key), [side]: row });
    }
  }
  const rows = [...steps.values()]
    .sort((first, second) => second.step - first.step || second.nth - first.nth)
    .slice(0, MOST_ROWS);
  const wanted = rows
    .flatMap(({ left: l, right: r }) => (l?.id === r?.id ? [] : [l, r]))
    .filter((row) => row !== undefined);
  const byThread = (id: string): CheckpointInfo[] => wanted.filter((row) => row.thread === id).slice(0, 60);
  await Promise.all([context.summaries.make(byThread(left), 300), context.summaries.make(byThread(right), 300)]);
  const side = (row: CheckpointInfo | undefined): CompareSide | null =>
    row === undefined
      ? null
      : {
          id: row.id,
          node: row.node,
          source: row.source,
          createdAt: row.createdAt,
          line: context.summaries.get(row)?.line ?? null,
          ran: context.summaries.get(row)?.ran ?? [],
        };
  return {
    left: { thread: left, head: one[0]!.id, checkpoints: one.length },
    right: { thread: right, head: other[0]!.id, checkpoints: other.length },
    common,
    complete: wanted.every((row) => context.summaries.get(row) !== undefined) || wanted.length > 120,
    rows: rows.map(({ step, left: l, right: r }) => ({
      step,
      same: l !== undefined && l.id === r?.id,
      left: side(l),
      right: side(r),
    })),
  };
};

/** Returns the checkpoints that lead to a thread's head, newest first. */
async function lineOf({ timelines }: ApiContext, id: string): Promise<readonly CheckpointInfo[]> {
  const { rows, positions } = await timelines.of(id, []);
  const line: CheckpointInfo[] = [];
  for (let row = rows[0]; row !== undefined; ) {
    line.push(row);
    const above: number | undefined = row.parent === null ? undefined : positions.get(row.parent);
    row = above === undefined ? undefined : rows[above];
  }
  if (line.length === 0) throw noSuchThread(id);
  return line;
}

const DEEPEST = 1_100;
/** How long the steps are looked through before the answer says how far it came, in milliseconds. */
const PATIENCE = 1_500;

/**
 * Returns the step that made a value what it is: the newest ancestor whose parent had another value there, or none. With
 * `more`, the search has come as far as `at`, and goes on from there.
 */
export const blame: Handler<Blame> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  const from = parameters.optionalText("from");
  const path = parameters.list("path", DEEPEST, isStep);
  parameters.end();
  const { renderers } = context;
  const start = await context.states.get(thread, id);
  const wanted = follow(start.state, path, renderers);
  const deadline = performance.now() + PATIENCE;
  let here: CheckpointInfo = from === undefined ? start : await context.states.get(thread, from);
  let parent = here.parent;
  let looked = 0;
  for await (const { state, ...info } of thread.history({ before: here.seq, states: true })) {
    if (info.id !== parent) continue;
    looked += 1;
    const value = follow(state, path, renderers);
    if (value.found !== wanted.found || !isSame(value.value, wanted.value)) {
      return {
        ...found(here),
        looked,
        more: false,
        before: value.found ? previewOf(value.value, 200, renderers) : null,
      };
    }
    here = info;
    parent = info.parent;
    if (parent === null) break;
    if (performance.now() > deadline) return { ...found(here), looked, more: true, before: null };
    await turn();
  }
  return { ...found(here), looked, more: false, before: null };
};

type Found = Omit<Blame, "looked" | "more" | "before">;

function found({ id, step, node, source, createdAt, thread, namespace }: CheckpointInfo): Found {
  return { at: id, step, node, source, createdAt, thread, namespace };
}
