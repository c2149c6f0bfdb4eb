import { checkpointRecord, threadRecord } from "../../display/json-records.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import { statuses } from "../../model/status.ts";
import { HttpError } from "../http/http-error.ts";
import type { StoreFacts, ThreadFacts, ThreadPage, ThreadRow } from "./answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "./api-context.ts";

const LARGEST_PAGE = 500;
/** How long a list waits for the lines of its rows, in milliseconds; lines that take longer come with the next answer. */
const PATIENCE = 60;

/** Returns the store's address, whether it may be changed, and the application that threads can be run on with. */
export const storeFacts: Handler<StoreFacts> = async ({ url, readOnly, runs }, parameters) => {
  parameters.end();
  return { url, readOnly, app: runs?.file ?? null, now: Date.now() };
};

export const threadPage: Handler<ThreadPage> = async (context, parameters) => {
  const query = {
    search: parameters.text("search", ""),
    workflow: parameters.text("workflow", "") || undefined,
    status: parameters.choice("status", statuses),
    offset: parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0),
    limit: parameters.whole("limit", 1, LARGEST_PAGE, 100),
  };
  parameters.end();
  const page = await context.catalogue.page(query);
  const lines = await linesOf(context, page.threads, performance.now() + PATIENCE);
  return {
    ...page,
    complete: page.complete && lines.every((line) => line !== undefined),
    offset: query.offset,
    threads: page.threads.map((thread, index) => ({ ...threadRecord(thread), line: lines[index] ?? null })),
  };
};

type ThreadLine = NonNullable<ThreadRow["line"]>;

/** Returns what happened last in each thread, as far as it is known by the deadline. */
async function linesOf(
  { heads }: ApiContext,
  threads: readonly ThreadInfo[],
  deadline: number,
): Promise<readonly (ThreadLine | undefined)[]> {
  const nothing: ThreadLine = { kind: "change", text: "" };
  const lines: (ThreadLine | undefined)[] = threads.map(() => undefined);
  const work = (async (): Promise<void> => {
    for (const [index, thread] of threads.entries()) {
      lines[index] = (await heads.of(thread).catch(() => undefined))?.line ?? nothing;
      if (performance.now() > deadline) return;
    }
  })();
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(1, deadline - performance.now()));
  });
  await Promise.race([work, enough]).finally(() => clearTimeout(timer));
  return lines;
}

/** Returns a thread, its nested graphs with their heads, and its forks. */
export const threadFacts: Handler<ThreadFacts> = async (context, parameters) => {
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
