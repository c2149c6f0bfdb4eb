import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { Store } from "../api/store.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import { addressOf, levelsOf, namespaceOf } from "./mapping/address.ts";
import { matches } from "./mapping/metadata.ts";

/** A checkpoint that a list shows, and where it is. */
export interface Listed {
  readonly thread: string;
  readonly namespace: string;
  readonly info: CheckpointInfo;
}

type AnyStore = Store<Record<string, unknown>>;

/**
 * Ids are times, and checkpoints of concurrent runs may be committed a little out of their order: rows are put in order
 * within this many. One that is further out of order, by a clock that was wrong, comes where it was committed.
 */
const window = 32;

/** What a list shows, greatest id first: of one namespace of a thread, of all of them, or of all threads. */
export async function* listed(
  store: AnyStore,
  config: RunnableConfig,
  options: CheckpointListOptions,
): AsyncGenerator<Listed> {
  const { limit = Number.POSITIVE_INFINITY, before, filter = {} } = options;
  const beforeId: unknown = before?.configurable?.["checkpoint_id"];
  const id = addressOf(config)?.checkpoint;
  const passes = ({ info }: Listed): boolean =>
    (id === undefined || info.id === id) &&
    (typeof beforeId !== "string" || info.id < beforeId) &&
    matches(info, filter);
  let left = limit;
  if (left <= 0) return;
  for await (const row of merged(await streams(store, config, passes))) {
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

async function streams(
  store: AnyStore,
  config: RunnableConfig,
  passes: (row: Listed) => boolean,
): Promise<AsyncGenerator<Listed>[]> {
  const address = addressOf(config);
  const namespace: unknown = config.configurable?.["checkpoint_ns"];
  const threads: string[] = [];
  if (address !== undefined) threads.push(address.thread);
  else for await (const thread of store.threads()) threads.push(thread.id);
  const all: AsyncGenerator<Listed>[] = [];
  for (const thread of threads) {
    const levels = typeof namespace === "string" ? [levelsOf(namespace)] : await store.thread(thread).namespaces();
    for (const level of levels) all.push(ordered(store, thread, level, passes));
  }
  return all;
}

/** The rows of one namespace that pass, greatest id first. */
async function* ordered(
  store: AnyStore,
  thread: string,
  levels: readonly string[],
  passes: (row: Listed) => boolean,
): AsyncGenerator<Listed> {
  const waiting: Listed[] = [];
  for await (const info of store.thread(thread, { namespace: levels }).history()) {
    const row: Listed = { thread, namespace: namespaceOf(info), info };
    if (!passes(row)) continue;
    let place = waiting.length;
    while (place > 0 && (waiting[place - 1] as Listed).info.id < info.id) place -= 1;
    waiting.splice(place, 0, row);
    if (waiting.length > window) yield waiting.shift() as Listed;
  }
  yield* waiting;
}

/** A stream and the row it is at. */
interface Head {
  readonly row: Listed;
  readonly id: string;
  readonly stream: AsyncGenerator<Listed>;
}

/** Several ordered streams as one, in time that grows with the rows: their heads are a heap, the greatest id first. */
export async function* merged(streams: readonly AsyncGenerator<Listed>[]): AsyncGenerator<Listed> {
  const heap: Head[] = [];
  for (const stream of streams) {
    const head = await headOf(stream);
    if (head !== undefined) heap.push(head);
  }
  for (let index = (heap.length >> 1) - 1; index >= 0; index--) sink(heap, index);
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    yield first.row;
    const next = (await headOf(first.stream)) ?? heap.pop();
    if (heap.length === 0 || next === undefined) return;
    heap[0] = next;
    sink(heap, 0);
  }
}

async function headOf(stream: AsyncGenerator<Listed>): Promise<Head | undefined> {
  const next = await stream.next();
  return next.done === true ? undefined : { row: next.value, id: next.value.info.id, stream };
}

/** Puts the head at a place where it belongs in the heap below that. */
function sink(heap: Head[], place: number): void {
  const head = heap[place] as Head;
  let at = place;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    if (left === undefined) break;
    const child = right !== undefined && right.id > left.id ? right : left;
    if (child.id <= head.id) break;
    heap[at] = child;
    at = child === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = head;
}
