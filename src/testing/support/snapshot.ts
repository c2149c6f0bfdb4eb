import assert from "node:assert/strict";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { Activation, Checkpoint, CheckpointInfo, Write } from "../../model/checkpoint.ts";
import type { HistoryOptions } from "../../model/interface/options.ts";

/** Everything visible of a thread, so that "nothing changed" is a single comparison. */
export interface ThreadSnapshot {
  readonly namespaces: readonly {
    readonly namespace: readonly string[];
    readonly checkpoints: readonly Checkpoint[];
    readonly writes: readonly (readonly Write[])[];
  }[];
}

/** Reads a whole thread: every namespace, every checkpoint newest first, all writes of those checkpoints. */
export async function snapshot<State>(store: Store<State>, id: string): Promise<ThreadSnapshot> {
  const nested = (await store.thread(id).namespaces()).filter((namespace) => namespace.length > 0);
  const namespaces: ThreadSnapshot["namespaces"][number][] = [];
  for (const namespace of [[], ...nested]) {
    const thread = store.thread(id, { namespace });
    const checkpoints = await wholeHistory(thread);
    const found = await thread.writesOf(checkpoints);
    const writes = checkpoints.map(({ id: checkpoint }) => (found.get(checkpoint) ?? []).map(shapedWrite));
    namespaces.push({ namespace: [...namespace], checkpoints: checkpoints.map(shaped), writes });
  }
  namespaces.sort((left, right) => (JSON.stringify(left.namespace) < JSON.stringify(right.namespace) ? -1 : 1));
  return { namespaces };
}

/** Returns the snapshot as another thread would show it: only the thread's name differs. */
export function renamed(whole: ThreadSnapshot, thread: string): ThreadSnapshot {
  return {
    namespaces: whole.namespaces.map((part) => ({
      ...part,
      checkpoints: part.checkpoints.map((checkpoint) => ({ ...checkpoint, thread })),
    })),
  };
}

const informationFields = [
  "id",
  "thread",
  "namespace",
  "seq",
  "parent",
  "step",
  "source",
  "node",
  "run",
  "workflow",
  "label",
  "createdAt",
  "stateVersion",
  "metadata",
  "pending",
  "waiting",
] as const satisfies readonly (keyof CheckpointInfo)[];

const bodyFields = ["state", "path", "next", "completed", "interrupts", "barriers"] as const;
const checkpointFields = [...informationFields, ...bodyFields];

/** Returns metadata with its fields in a fixed order. Fails if a field is missing or there is an extra one. */
export function shapedInformation(information: CheckpointInfo): CheckpointInfo {
  hasExactly(information, informationFields, "metadata");
  return pick(information, informationFields) as unknown as CheckpointInfo;
}

/** Returns a checkpoint with its own fields in a fixed order, so that `exact` compares their values. */
export function shaped(checkpoint: Checkpoint): Checkpoint {
  hasExactly(checkpoint, checkpointFields, "a checkpoint");
  return {
    ...(pick(checkpoint, checkpointFields) as unknown as Checkpoint),
    next: checkpoint.next.map((activation) => pick(activation, ["node", "task", "arg"]) as unknown as Activation),
    interrupts: checkpoint.interrupts.map(({ id, node, value }) => ({ id, node, value })),
    barriers: checkpoint.barriers.map(({ node, arrived }) => ({ node, arrived })),
  };
}

function shapedWrite(write: Write): Write {
  return { task: write.task, node: write.node, index: write.index, channel: write.channel, value: write.value };
}

function hasExactly(value: object, fields: readonly string[], what: string): void {
  const keys = Object.keys(value);
  if (keys.length === fields.length && fields.every((field) => Object.hasOwn(value, field))) return;
  assert.deepEqual(keys.sort(), [...fields].sort(), `${what} has exactly the documented fields`);
}

function pick(from: object, fields: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const field of fields) if (Object.hasOwn(from, field)) picked[field] = Reflect.get(from, field);
  return picked;
}

/** Returns all items of an asynchronous iterable. */
export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of iterable) all.push(one);
  return all;
}

/** Returns a namespace's checkpoints with their states, newest first. */
export async function wholeHistory<State>(
  thread: Thread<State>,
  options?: HistoryOptions,
): Promise<Checkpoint<State>[]> {
  const all: unknown[] = await collect(thread.history({ ...options, states: true }) as AsyncIterable<unknown>);
  return all as Checkpoint<State>[];
}

/** Returns the ids of a namespace's checkpoints, newest first. */
export async function idsOf<State>(thread: Thread<State>, options?: HistoryOptions): Promise<string[]> {
  const all: unknown[] = await collect(thread.history(options ?? {}) as AsyncIterable<unknown>);
  return (all as CheckpointInfo[]).map(({ id }) => id);
}
