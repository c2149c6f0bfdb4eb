import { checkpointRecord, threadRecord } from "../../display/json-records.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import { statuses } from "../../model/status.ts";
import { HttpError } from "../http/http-error.ts";
import { isText } from "../http/request-parameters.ts";
import { type Handler, noSuchThread, threadOf } from "./api-context.ts";
import { answeredOf } from "./questions.ts";
import { previewOf } from "./tree.ts";
import { summaryOf } from "./value.ts";

const LARGEST_PAGE = 500;

/** Returns the store's address and whether it may be changed. */
export const storeFacts: Handler = async ({ url, readOnly }, parameters) => {
  parameters.end();
  return { url, readOnly, now: Date.now() };
};

export const threadPage: Handler = async ({ catalogue }, parameters) => {
  const query = {
    search: parameters.text("search", ""),
    workflow: parameters.text("workflow", "") || undefined,
    status: parameters.choice("status", statuses),
    offset: parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0),
    limit: parameters.whole("limit", 1, LARGEST_PAGE, 100),
  };
  parameters.end();
  const page = await catalogue.page(query);
  return { ...page, offset: query.offset, threads: page.threads.map(threadRecord) };
};

/** Returns a thread, its nested graphs with their heads, and its forks. */
export const threadFacts: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  parameters.end();
  const info = await context.catalogue.thread(thread.id);
  if (info === undefined) throw noSuchThread(thread.id);
  const graphs = await context.catalogue.graphs.of(thread.id);
  const forks = (await context.catalogue.forksOf(thread.id)).map(({ id, forkedFrom, status }) => ({
    thread: id,
    checkpoint: forkedFrom?.checkpoint ?? null,
    status,
  }));
  return {
    thread: threadRecord(info),
    namespaces: graphs.map(({ head, ...graph }) => ({ ...graph, head: checkpointRecord(head) })),
    forks,
  };
};

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

const PATH_SHOWN = 200;

/** Returns all of a checkpoint but its state, which is read in parts. */
export const checkpointFacts: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  parameters.end();
  const whole = await context.states.get(thread, id);
  const { state, path, next, completed, interrupts, barriers, ...info } = whole;
  const writes = await thread.writes(id);
  const answered = await answeredOf(context, thread, whole, writes);
  return {
    checkpoint: checkpointRecord(info),
    state: summaryOf(state),
    path: { steps: path.length, last: path.slice(-PATH_SHOWN) },
    next: next.map(({ node, task, arg }) => ({
      node,
      task: task ?? null,
      arg: arg === undefined ? null : summaryOf(arg),
    })),
    completed,
    barriers,
    interrupts: interrupts.map(({ id: question, node, value }, index) => ({
      id: question,
      node,
      position: index,
      value: summaryOf(value, 2_000),
      answered: answered.has(question),
    })),
    writes: writes.map(({ value, ...write }) => ({ ...write, value: summaryOf(value) })),
    size: await thread.sizeOf(id),
  };
};

const MOST_CHANGES = 500;

/** Returns the differences between two states. */
export const stateDiff: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const [before, after] = [parameters.text("before"), parameters.text("after")];
  const offset = parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0);
  parameters.end();
  const changes = await thread.diff(before, after);
  return {
    total: changes.length,
    changes: changes.slice(offset, offset + MOST_CHANGES).map((change) => ({
      path: change.path,
      kind: change.kind,
      ...("before" in change && { before: previewOf(change.before, 2_000) }),
      ...("after" in change && { after: previewOf(change.after, 2_000) }),
    })),
  };
};

/** Returns an unused name for a fork, derived from the name of its thread. */
export const freeName: Handler = async (context, parameters) => {
  const base = parameters.text("thread");
  parameters.end();
  for (let number = 1; number < 1_000; number += 1) {
    const name = `${base}-fork${number === 1 ? "" : `-${number}`}`;
    if ((await context.catalogue.thread(name)) === undefined) return { name };
  }
  throw new HttpError(409, "CONFLICT", "Give the fork a name of its own.");
};
