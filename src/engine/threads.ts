import type { Listed, Read } from "../backend.ts";
import { parseNamespaceKey } from "../model/address.ts";
import type { ThreadsOptions } from "../model/arguments.ts";
import type { Status, ThreadInfo } from "../model/checkpoint.ts";
import type { Engine } from "./engine.ts";
import { headOf } from "./find.ts";
import { countOf } from "./history.ts";
import { decodeDirectory, type Meta } from "./meta.ts";
import { infoOf, parentId } from "./read.ts";
import type { Tape } from "./tape.ts";
import { type Shown, shownRows } from "./view.ts";

const PAGE = 100;

/** Every thread that shows a checkpoint. */
export async function* listThreads(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const source = options.order === "updated" ? newestFirst(engine, options) : byId(engine, options);
  for (;;) {
    const next = await engine.track(() => source.next());
    if (next.done) return;
    const thread = next.value;
    if (options.workflow !== undefined && thread.workflow !== options.workflow) continue;
    if (options.status !== undefined && thread.status !== options.status) continue;
    yield thread;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* byId(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  for await (const tape of allThreads(engine, options.prefix, options.after)) {
    const info = await threadInfo(engine, tape);
    if (info) yield info;
  }
}

/** By the time of the last change; equal times by id, so that paging by `after` neither repeats nor skips. */
async function* newestFirst(engine: Engine, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  const threads: ThreadInfo[] = [];
  for await (const thread of byId(engine, { ...(options.prefix !== undefined && { prefix: options.prefix }) }))
    threads.push(thread);
  threads.sort((left, right) => right.updatedAt - left.updatedAt);
  const start = options.after === undefined ? 0 : threads.findIndex((thread) => thread.id === options.after) + 1;
  yield* threads.slice(start);
}

/** The tapes of all threads, in bytewise order of their ids. */
export async function* allThreads(engine: Engine, prefix?: string, after?: string): AsyncGenerator<Tape> {
  let last = after;
  for (;;) {
    const list = { limit: PAGE, ...(prefix !== undefined && { prefix }), ...(last !== undefined && { after: last }) };
    const reads: Read[] = [{ list }];
    const [page] = (await engine.read(reads)) as readonly [readonly Listed[]];
    for (const { id, value } of page) {
      const entry = decodeDirectory(value);
      if (entry.tape === undefined || entry.lineage === undefined) continue;
      const tape = await engine.refresh(entry.tape, entry.lineage);
      if (tape && !tape.meta.dead && tape.meta.thread === id) yield tape;
    }
    if (page.length < PAGE) return;
    last = page.at(-1)?.id;
  }
}

async function threadInfo(engine: Engine, tape: Tape): Promise<ThreadInfo | undefined> {
  const { meta } = tape;
  const root = await headOf(engine, tape, "");
  const newest = await newestRow(engine, tape);
  const head = root ?? newest;
  if (!head || !newest) return undefined;
  const place = { thread: meta.thread, namespace: parseNamespaceKey(head.namespace) };
  return {
    id: meta.thread,
    workflow: head.workflow,
    head: infoOf(engine, place, head, await parentId(engine, tape, head)),
    status: statusOf(meta, head, engine.clock()),
    checkpoints: await countOf(engine, tape, undefined),
    createdAt: meta.createdAt,
    updatedAt: Math.max(newest.createdAt, meta.origin ? meta.createdAt : newest.createdAt),
    forkedFrom: meta.origin ? { thread: meta.origin.thread, checkpoint: meta.origin.checkpoint } : null,
  };
}

async function newestRow(engine: Engine, tape: Tape): Promise<Shown | undefined> {
  for await (const row of shownRows(engine, tape)) return row;
  return undefined;
}

function statusOf(meta: Meta, head: Shown, now: number): Status {
  if (meta.lease && meta.lease.expires > now) return "running";
  if (meta.failed === head.id) return "failed";
  if (head.waiting > 0) return "waiting";
  return head.pending === 0 ? "done" : "paused";
}
