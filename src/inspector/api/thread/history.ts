import { checkpointRecord } from "../../../display/json-records.ts";
import { failuresIn } from "../../../display/steps/failure.ts";
import { questionsOf } from "../../../display/steps/question.ts";
import { oneLine } from "../../../display/values/records.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { controlIndexes } from "../../../model/control-writes.ts";
import type { NestedGraph } from "../../caches/nested-graphs.ts";
import type { Timeline } from "../../caches/timelines.ts";
import { HttpError } from "../../http/http-error.ts";
import { isText } from "../../http/request-parameters.ts";
import type { NextItem, TimelineItem, TimelinePage, TimelinePosition } from "../answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "../api-context.ts";

const LARGEST_PAGE = 500;
/** How long a timeline waits for the lines of its rows, in milliseconds. */
const PATIENCE = 150;

/** Returns a page of checkpoints, newest first, metadata only. */
export const historyPage: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, 100);
  const before = parameters.has("before") ? parameters.whole("before", 0, Number.MAX_SAFE_INTEGER, 0) : undefined;
  parameters.end();
  const checkpoints: Record<string, unknown>[] = [];
  for await (const info of thread.history({ limit: limit + 1, ...(before !== undefined && { before }) })) {
    checkpoints.push(checkpointRecord(info));
  }
  return { checkpoints: checkpoints.slice(0, limit), more: checkpoints.length > limit };
};

/**
 * Returns the marks that come from writes: which checkpoints failed, which ask a question (as LangGraph stores it), and
 * how many results there are.
 */
export const checkpointMarks: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const ids = parameters.list("checkpoints", 200, isText);
  parameters.end();
  const marks: Record<string, { writes: number; failed: boolean; asks: boolean }> = Object.create(null) as never;
  await Promise.all(
    ids.map(async (id) => {
      const writes = await thread.writes(id);
      const has = (control: number): boolean => writes.some(({ index }) => index === control);
      marks[id] = { writes: writes.length, failed: has(controlIndexes.error), asks: has(controlIndexes.interrupt) };
    }),
  );
  return { marks };
};

/** A row of a timeline: a step that has not been taken, a checkpoint, or a graph that ran inside a step. */
type Item =
  | NextItem
  | { readonly kind: "checkpoint"; readonly index: number }
  | { readonly kind: "graph"; readonly graph: NestedGraph; readonly above: number };

/** Returns a stretch of the timeline, from any position: checkpoints with their lines, newest first, and what comes next. */
export const timelinePage: Handler<TimelinePage> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, 100);
  parameters.end();
  const timeline = await timelineOf(context, thread.id, thread.namespace);
  const items = await itemsOf(context, timeline, thread.id, thread.namespace);
  const shown = items.slice(offset, offset + limit);
  const rows = shown.flatMap((item) => (item.kind === "checkpoint" ? [timeline.rows[item.index]!] : []));
  await context.summaries.make(rows, PATIENCE);
  const marks = await marksOf(context, thread.id, thread.namespace, rows, timeline.rows[0]?.id);
  return {
    total: items.length,
    checkpoints: timeline.rows.length,
    offset,
    lanes: timeline.width,
    head: timeline.rows[0]?.id ?? null,
    complete: rows.every((row) => context.summaries.get(row) !== undefined),
    items: shown.map((item) => shownItem(context, timeline, item, marks)),
  };
};

/** Returns where in the timeline a checkpoint is: the one named, the newest of a step, or the one so many from the newest. */
export const timelinePosition: Handler<TimelinePosition> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.optionalText("checkpoint");
  const step = parameters.has("step")
    ? parameters.whole("step", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0)
    : undefined;
  const nth = parameters.has("index") ? parameters.whole("index", 0, Number.MAX_SAFE_INTEGER, 0) : undefined;
  parameters.end();
  const timeline = await timelineOf(context, thread.id, thread.namespace);
  const index =
    nth ??
    (id !== undefined ? (timeline.positions.get(id) ?? -1) : timeline.rows.findIndex((row) => row.step === step));
  const row = timeline.rows[index];
  if (row === undefined) {
    const [newest, oldest] = [timeline.rows[0], timeline.rows.at(-1)];
    const range = newest === undefined ? "" : ` Its steps are ${oldest?.step} to ${newest.step}.`;
    throw new HttpError(
      404,
      "NOT_FOUND",
      `Thread ${JSON.stringify(thread.id)} has no ${id === undefined ? `step ${step}` : "such checkpoint"}.${range}`,
    );
  }
  const items = await itemsOf(context, timeline, thread.id, thread.namespace);
  const position = items.findIndex((item) => item.kind === "checkpoint" && item.index === index);
  return { position, index, checkpoint: row.id, step: row.step };
};

async function timelineOf(context: ApiContext, thread: string, namespace: readonly string[]): Promise<Timeline> {
  const timeline = await context.timelines.of(thread, namespace);
  if (timeline.rows.length === 0) throw noSuchThread(thread);
  return timeline;
}

/** Inserts each nested graph above the outer checkpoint that it ran after, and the next steps above the head. */
async function itemsOf(
  context: ApiContext,
  { rows }: Timeline,
  thread: string,
  namespace: readonly string[],
): Promise<readonly Item[]> {
  const head = rows[0]!;
  const items: Item[] = [...(await nextSteps(context, head))];
  const nested = await context.catalogue.graphs.of(thread);
  const inside = nested.filter(
    (graph) =>
      graph.namespace.length > namespace.length && namespace.every((part, index) => graph.namespace[index] === part),
  );
  const waiting = inside.toSorted((left, right) => right.head.seq - left.head.seq);
  let next = 0;
  for (const [index, { seq }] of rows.entries()) {
    for (; next < waiting.length && waiting[next]!.head.seq > seq; next += 1)
      items.push({ kind: "graph", graph: waiting[next]!, above: index - 1 });
    items.push({ kind: "checkpoint", index });
  }
  for (; next < waiting.length; next += 1) items.push({ kind: "graph", graph: waiting[next]!, above: rows.length - 1 });
  return items;
}

/** Returns what the head's next nodes did so far: failed, asked, or nothing yet. */
async function nextSteps({ store }: ApiContext, head: CheckpointInfo): Promise<readonly Item[]> {
  if (head.pending === 0 && head.waiting === 0) return [];
  const thread = store.thread(head.thread, { namespace: head.namespace });
  const tuple = await thread.tuple(head.id);
  if (tuple === undefined) return [];
  const { checkpoint, writes } = tuple;
  const failures = failuresIn(writes, checkpoint.next);
  const questions = questionsOf(checkpoint, writes);
  const items: Item[] = [];
  for (const { node, message, name } of failures)
    items.push({
      kind: "next",
      node: node ?? "a task",
      state: "failed",
      text: oneLine(message === "" ? name : message, 160),
    });
  for (const { node, text, answered } of questions)
    items.push({
      kind: "next",
      node: node ?? "a task",
      state: answered ? "answered" : "asks",
      text: oneLine(text, 160),
    });
  const named = new Set(items.flatMap((item) => (item.kind === "next" ? [item.node] : [])));
  const others = new Map<string, number>();
  for (const { node } of checkpoint.next) if (!named.has(node)) others.set(node, (others.get(node) ?? 0) + 1);
  for (const [node, count] of others)
    items.push({ kind: "next", node, state: "next", text: count === 1 ? "runs next" : `runs next, ${count} times` });
  return items;
}

interface Marks {
  readonly failed: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
}

/** Finds the checkpoints whose next step failed or asked, in a single read. The head's have rows of their own. */
async function marksOf(
  { store }: ApiContext,
  id: string,
  namespace: readonly string[],
  rows: readonly CheckpointInfo[],
  head: string | undefined,
): Promise<Marks> {
  const failed = new Set<string>();
  const asked = new Set<string>();
  const earlier = rows.filter((row) => row.id !== head);
  if (earlier.length > 0) {
    for (const [checkpoint, writes] of await store.thread(id, { namespace }).writesOf(earlier)) {
      if (writes.some(({ index }) => index === controlIndexes.error)) failed.add(checkpoint);
      if (writes.some(({ index }) => index === controlIndexes.interrupt)) asked.add(checkpoint);
    }
  }
  return { failed, asked };
}

function shownItem(context: ApiContext, timeline: Timeline, item: Item, marks: Marks): TimelineItem {
  if (item.kind === "next") return item;
  if (item.kind === "graph") {
    const { namespace, checkpoints, head } = item.graph;
    const below = timeline.places[item.above]?.below ?? [];
    return { kind: "graph", namespace, checkpoints, head: checkpointRecord(head), below };
  }
  const row = timeline.rows[item.index]!;
  const summary = context.summaries.get(row);
  const parent = row.parent === null ? undefined : timeline.rows[timeline.positions.get(row.parent) ?? -1];
  return {
    kind: "checkpoint",
    ...checkpointRecord(row),
    place: timeline.places[item.index]!,
    line: summary?.line ?? null,
    ran: summary?.ran ?? [],
    took: parent === undefined ? null : row.createdAt - parent.createdAt,
    failed: marks.failed.has(row.id),
    asked: item.index > 0 && (row.waiting > 0 || marks.asked.has(row.id)),
  };
}
