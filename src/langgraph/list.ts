import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { Store } from "../api/store.ts";
import type { Where } from "../model/attributes.ts";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import { addressOf, levelsOf, namespaceOf } from "./mapping/address.ts";
import { attributesOf } from "./mapping/attributes.ts";
import { matches } from "./mapping/metadata.ts";

/** A checkpoint of a list, with its thread and namespace. */
export interface ListedCheckpoint {
  readonly thread: string;
  readonly namespace: string;
  readonly info: CheckpointInfo;
}

type AnyStore = Store<Record<string, unknown>>;

/**
 * The number of rows within which a list is sorted by id. Ids are times, and concurrent runs may commit a little out of
 * their order. A row that is further out of order, by a wrong clock, is listed where it was committed.
 */
const window = 32;

/** Yields the checkpoints that a config names, greatest id first: of a namespace, of a thread, or of all threads. */
export async function* listed(
  store: AnyStore,
  config: RunnableConfig,
  options: Omit<CheckpointListOptions, "limit">,
  attributes: readonly string[] = [],
): AsyncGenerator<ListedCheckpoint> {
  const { before, filter = {} } = options;
  const beforeId: unknown = before?.configurable?.["checkpoint_id"];
  const id = addressOf(config)?.checkpoint;
  const passes = ({ info }: ListedCheckpoint): boolean =>
    (id === undefined || info.id === id) &&
    (typeof beforeId !== "string" || info.id < beforeId) &&
    matches(info, filter);
  yield* merged(await streams(store, config, passes, attributesOf(attributes, filter)));
}

async function streams(
  store: AnyStore,
  config: RunnableConfig,
  passes: (row: ListedCheckpoint) => boolean,
  where: Where | undefined,
): Promise<AsyncGenerator<ListedCheckpoint>[]> {
  const address = addressOf(config);
  const namespace: unknown = config.configurable?.["checkpoint_ns"];
  const threads: string[] = [];
  if (address !== undefined) threads.push(address.thread);
  else for await (const thread of store.threads(where ? { where } : {})) threads.push(thread.id);
  const all: AsyncGenerator<ListedCheckpoint>[] = [];
  for (const thread of threads) {
    const levels = typeof namespace === "string" ? [levelsOf(namespace)] : await store.thread(thread).namespaces();
    for (const level of levels) all.push(ordered(store, thread, level, passes));
  }
  return all;
}

/** Yields the rows of a namespace that pass, greatest id first. */
async function* ordered(
  store: AnyStore,
  thread: string,
  levels: readonly string[],
  passes: (row: ListedCheckpoint) => boolean,
): AsyncGenerator<ListedCheckpoint> {
  const waiting: ListedCheckpoint[] = [];
  for await (const info of store.thread(thread, { namespace: levels }).history()) {
    const row: ListedCheckpoint = { thread, namespace: namespaceOf(info), info };
    if (!passes(row)) continue;
    let index = waiting.length;
    while (index > 0 && (waiting[index - 1] as ListedCheckpoint).info.id < info.id) index -= 1;
    waiting.splice(index, 0, row);
    if (waiting.length > window) yield waiting.shift() as ListedCheckpoint;
  }
  yield* waiting;
}

/** A stream and its current row. */
interface Cursor {
  readonly row: ListedCheckpoint;
  readonly id: string;
  readonly stream: AsyncGenerator<ListedCheckpoint>;
}

/** Merges streams of descending ids. The cursors are a heap, so that each row costs the logarithm of the number of streams. */
export async function* merged(streams: readonly AsyncGenerator<ListedCheckpoint>[]): AsyncGenerator<ListedCheckpoint> {
  const heap: Cursor[] = [];
  for (const stream of streams) {
    const cursor = await cursorOf(stream);
    if (cursor !== undefined) heap.push(cursor);
  }
  for (let index = (heap.length >> 1) - 1; index >= 0; index--) sink(heap, index);
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    yield first.row;
    const next = (await cursorOf(first.stream)) ?? heap.pop();
    if (heap.length === 0 || next === undefined) return;
    heap[0] = next;
    sink(heap, 0);
  }
}

async function cursorOf(stream: AsyncGenerator<ListedCheckpoint>): Promise<Cursor | undefined> {
  const next = await stream.next();
  return next.done === true ? undefined : { row: next.value, id: next.value.info.id, stream };
}

/** Moves the cursor at an index down to its place in the heap. */
function sink(heap: Cursor[], index: number): void {
  const cursor = heap[index] as Cursor;
  let at = index;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    if (left === undefined) break;
    const child = right !== undefined && right.id > left.id ? right : left;
    if (child.id <= cursor.id) break;
    heap[at] = child;
    at = child === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = cursor;
}
