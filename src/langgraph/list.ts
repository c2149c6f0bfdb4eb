import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import type { CheckpointInfo } from "../model/checkpoint.ts";
import type { Store } from "../store.ts";
import { addressOf, levelsOf, namespaceOf } from "./address.ts";
import { matches } from "./metadata.ts";

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
    const row: Listed = { thread, namespace: namespaceOf(levels), info };
    if (!passes(row)) continue;
    let place = waiting.length;
    while (place > 0 && (waiting[place - 1] as Listed).info.id < info.id) place -= 1;
    waiting.splice(place, 0, row);
    if (waiting.length > window) yield waiting.shift() as Listed;
  }
  yield* waiting;
}

/** Several ordered streams as one. */
async function* merged(streams: readonly AsyncGenerator<Listed>[]): AsyncGenerator<Listed> {
  const [only] = streams;
  if (streams.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const heads: { row: Listed; stream: AsyncGenerator<Listed> }[] = [];
  const advance = async (stream: AsyncGenerator<Listed>): Promise<void> => {
    const next = await stream.next();
    if (next.done !== true) heads.push({ row: next.value, stream });
  };
  for (const stream of streams) await advance(stream);
  while (heads.length > 0) {
    let greatest = 0;
    for (let index = 1; index < heads.length; index++) {
      if ((heads[index]?.row.info.id ?? "") > (heads[greatest]?.row.info.id ?? "")) greatest = index;
    }
    const [{ row, stream }] = heads.splice(greatest, 1) as [(typeof heads)[number]];
    yield row;
    await advance(stream);
  }
}
