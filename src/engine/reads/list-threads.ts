import type { Listed } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { parseNamespaceKey } from "../../model/address.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import type { ThreadsOptions } from "../../model/options.ts";
import { type Status, statusOf } from "../../model/status.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { countOf } from "../view/count.ts";
import { headOf } from "../view/find.ts";
import type { Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { shownWrites } from "../view/shown-writes.ts";
import { infoOf, parentId } from "./checkpoint.ts";
import { directoryPages, type ThreadRange, tapesOf } from "./directory.ts";
import { type Glance, glances } from "./thread-summary.ts";

/** Threads looked at together: few at first, since the caller may want no more. */
const FIRST_THREADS = 4;
const THREADS = 50;

/** Yields every thread that shows a checkpoint. A damaged thread is passed over: `verify` reports it. */
export async function* listThreads(context: Context, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const source = options.order === "updated" ? newestFirst(context, options) : byId(context, options);
  for (;;) {
    options.signal?.throwIfAborted();
    const next = await context.calls.track(() => source.next());
    if (next.done) return;
    const thread = next.value;
    if (options.workflow !== undefined && thread.workflow !== options.workflow) continue;
    if (options.status !== undefined && thread.status !== options.status) continue;
    yield thread;
    left -= 1;
    if (left <= 0) return;
  }
}

/** Yields threads in bytewise order of their ids. */
export async function* byId(context: Context, range: ThreadRange): AsyncGenerator<ThreadInfo> {
  let size = FIRST_THREADS;
  for await (const page of directoryPages(context, range)) {
    for (let start = 0; start < page.length; ) {
      const group = page.slice(start, start + size);
      start += size;
      size = THREADS;
      for (const look of await looksAt(context, group)) {
        const info = await look().catch(ifDamaged);
        if (info) yield info;
      }
    }
  }
}

/** Returns for each of some threads, in their order, how its info is found: by a glance, or else by its tape. */
async function looksAt(
  context: Context,
  threads: readonly Listed[],
): Promise<(() => Promise<ThreadInfo | undefined>)[]> {
  const seen = await glances(context, threads);
  const others = new Map<string, Tape>();
  const rest = threads.filter(({ id }) => !seen.has(id));
  for await (const tape of tapesOf(context, rest, () => {})) others.set(tape.meta.thread, tape);
  return threads.map(({ id }) => async () => {
    const glance = seen.get(id);
    if (glance) return glancedInfo(context, glance);
    const tape = others.get(id);
    return tape && threadInfo(context, tape);
  });
}

/** Returns the info that a glance gives: the newest row is the head, and shown as it is. */
function glancedInfo(context: Context, { meta, head, count, parent }: Glance): ThreadInfo {
  return {
    id: meta.thread,
    workflow: head.workflow,
    head: infoOf(context, { thread: meta.thread, namespace: [] }, head, parent),
    status: statusAt(context, meta, head, false),
    checkpoints: count,
    createdAt: meta.createdAt,
    updatedAt: head.createdAt,
    forkedFrom: null,
  };
}

/** Yields threads by the time of the last change, newest first; equal times by id, so that paging by `after` neither repeats nor skips. */
async function* newestFirst(context: Context, options: ThreadsOptions): AsyncGenerator<ThreadInfo> {
  const threads: ThreadInfo[] = [];
  for await (const thread of byId(context, { ...(options.prefix !== undefined && { prefix: options.prefix }) }))
    threads.push(thread);
  threads.sort((left, right) => right.updatedAt - left.updatedAt);
  const start = options.after === undefined ? 0 : threads.findIndex((thread) => thread.id === options.after) + 1;
  if (options.after !== undefined && start === 0) {
    throw new ThreadmarkError(
      "NOT_FOUND",
      `Thread ${JSON.stringify(options.after)}, after which the list was to go on, is gone. Begin again, or list by id.`,
      { thread: options.after },
    );
  }
  yield* threads.slice(start);
}

async function threadInfo(context: Context, tape: Tape): Promise<ThreadInfo | undefined> {
  const { meta } = tape;
  const root = await headOf(context, tape, "");
  const newest = await newestRow(context, tape);
  const head = root ?? newest;
  if (!head || !newest) return undefined;
  const place = { thread: meta.thread, namespace: parseNamespaceKey(head.namespace) };
  return {
    id: meta.thread,
    workflow: head.workflow,
    head: infoOf(context, place, head, await parentId(context, tape, head)),
    status: statusAt(context, meta, head, await hasFailed(context, tape, head)),
    checkpoints: await countOf(context, tape, undefined),
    createdAt: meta.createdAt,
    updatedAt: Math.max(newest.createdAt, meta.origin ? meta.createdAt : newest.createdAt),
    forkedFrom: meta.origin ? { thread: meta.origin.thread, checkpoint: meta.origin.checkpoint } : null,
  };
}

async function newestRow(context: Context, tape: Tape): Promise<Shown | undefined> {
  for await (const row of shownRows(context, tape)) return row;
  return undefined;
}

/** Returns true if an error was written against the head. The meta record knows whether any error ever was. */
async function hasFailed(context: Context, tape: Tape, head: Shown): Promise<boolean> {
  if (!tape.meta.failed) return false;
  const writes = await shownWrites(context, tape, head.namespace, head.id);
  return writes.some((write) => write.index === controlIndexes.error);
}

function statusAt(context: Context, { lease }: Meta, { waiting, pending }: Row, failed: boolean): Status {
  return statusOf({ leased: lease !== undefined && lease.expires > context.clock(), failed, waiting, pending });
}
