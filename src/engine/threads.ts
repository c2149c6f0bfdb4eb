import type { Listed, Read } from "../backend.ts";
import { ThreadmarkError } from "../errors.ts";
import { parseNamespaceKey } from "../model/address.ts";
import type { ThreadsOptions } from "../model/arguments.ts";
import type { Status, ThreadInfo } from "../model/checkpoint.ts";
import type { Engine } from "./engine.ts";
import { headOf } from "./find.ts";
import { countOf } from "./history.ts";
import { decodeDirectory } from "./meta.ts";
import { infoOf, parentId } from "./read.ts";
import { shownRows } from "./shown-rows.ts";
import type { Tape } from "./tape.ts";
import type { Shown } from "./view.ts";
import { ERROR_INDEX, shownWrites } from "./writes.ts";

const PAGE = 100;
/** Tapes read at once: few at first, since the caller may want no more, and never many, since tails may be large. */
const FIRST_TAPES = 4;
export const TAPES = 16;

/** Nothing, for a thread that does not read: one that is damaged does not keep others from being listed. */
export function ifDamaged(error: unknown): undefined {
  if (error instanceof ThreadmarkError && error.code === "CORRUPT") return undefined;
  throw error;
}

/** Every thread that shows a checkpoint. One whose records are damaged is passed over: `verify` tells of it. */
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
  for await (const tape of allThreads(engine, { ...options, onFault: () => {} })) {
    const info = await threadInfo(engine, tape).catch(ifDamaged);
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
export async function* allThreads(
  engine: Engine,
  options: {
    readonly prefix?: string;
    readonly after?: string;
    /** Where given, threads that do not read are passed over and told. */
    readonly onFault?: (thread: string, error: unknown) => void;
  } = {},
): AsyncGenerator<Tape> {
  const { prefix, onFault } = options;
  let last = options.after;
  let size = FIRST_TAPES;
  for (;;) {
    const list = { limit: PAGE, ...(prefix !== undefined && { prefix }), ...(last !== undefined && { after: last }) };
    const reads: Read[] = [{ list }];
    const [page] = (await engine.read(reads)) as readonly [readonly Listed[]];
    for (let start = 0; start < page.length; ) {
      const group = page.slice(start, start + size);
      start += size;
      size = TAPES;
      const ahead = await tapesOf(engine, group);
      for (const { id, value } of group) {
        let tape: Tape | undefined;
        try {
          const entry = decodeDirectory(value);
          if (entry.tape === undefined || entry.lineage === undefined) continue;
          tape =
            ahead?.get(entry.tape) ?? (await engine.refresh(entry.tape, entry.lineage)) ?? (await engine.thread(id));
        } catch (error) {
          if (!onFault || !(error instanceof ThreadmarkError) || error.code !== "CORRUPT") throw error;
          onFault(id, error);
        }
        if (tape && !tape.meta.dead && tape.meta.thread === id) yield tape;
      }
    }
    if (page.length < PAGE) return;
    last = page.at(-1)?.id;
  }
}

/** The tapes of some threads, read together; undefined where one does not read: then each tells its own fault. */
async function tapesOf(engine: Engine, threads: readonly Listed[]): Promise<ReadonlyMap<number, Tape> | undefined> {
  try {
    const entries = threads.map(({ value }) => decodeDirectory(value));
    const sought = entries.flatMap(({ tape, lineage }) =>
      tape === undefined || lineage === undefined ? [] : [{ tape, lineage }],
    );
    const found = await engine.refreshAll(sought);
    return new Map(found.flatMap((tape) => (tape ? [[tape.number, tape]] : [])));
  } catch (error) {
    return ifDamaged(error);
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
    status: await statusOf(engine, tape, head),
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

async function statusOf(engine: Engine, tape: Tape, head: Shown): Promise<Status> {
  const { lease, failed } = tape.meta;
  if (lease && lease.expires > engine.clock()) return "running";
  if (failed) {
    const writes = await shownWrites(engine, tape, head.namespace, head.id);
    if (writes.some((write) => write.index === ERROR_INDEX)) return "failed";
  }
  if (head.waiting > 0) return "waiting";
  return head.pending === 0 ? "done" : "paused";
}
