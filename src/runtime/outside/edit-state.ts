import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointInfo, CheckpointTuple } from "../../model/checkpoint.ts";
import type { Values } from "../graph/reducers.ts";
import { notesOf } from "../position/graph-position.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import { noteNested } from "../run/nested.ts";

/**
 * Commits an edited state on the head of a thread, without the graph that runs it. Pending tasks stay pending and finished
 * tasks stay finished; throws `CONFLICT` if a run committed meanwhile. (`edit` does this with the graph at hand.)
 */
export async function editState(
  store: Store<Values>,
  thread: Thread<Values>,
  { checkpoint, writes }: CheckpointTuple<Values>,
  state: Values,
): Promise<CheckpointInfo> {
  const { node, path, completed, interrupts, barriers, metadata } = checkpoint;
  // A task without a key gets its key from its position, which changes with the step: so it is written down.
  const next = checkpoint.next.map((task, index) => ({ ...task, task: task.task ?? `${checkpoint.step}.${index}` }));
  const fields = { source: "update", node, path, next, completed, interrupts, barriers, state } as const;
  const options = { expect: checkpoint.id };
  const nested = await headsInside(store, checkpoint, next);
  const hasNested = Object.keys(nested).length > 0;
  if (writes.length === 0 && !hasNested) return thread.put({ ...fields, metadata }, options);
  const id = timeOrderedId();
  const flow = noteNested(notesOf(metadata), id, nested);
  // The writes come first: a run that sees the new head must not repeat finished tasks.
  for (const { task, node: of, ...write } of writes) await thread.putWrites(id, { task, node: of, writes: [write] });
  return thread.put({ ...fields, id, metadata: hasNested ? { ...metadata, flow } : metadata }, options);
}

/** Returns the heads of the graphs nested in these tasks, found by their namespaces, so that they continue from there. */
async function headsInside(
  store: Store<Values>,
  { id, thread, namespace, metadata }: CheckpointInfo,
  next: readonly { readonly task: string }[],
): Promise<Readonly<Record<string, string>>> {
  const heads = { ...notesOf(metadata).nested?.at };
  for (const inner of await store.thread(thread).namespaces()) {
    // The name of a node may have changed since its graph began; the task tells which one it is.
    const task = inner.at(-1) ?? "";
    const isInside = inner.length === namespace.length + 2 && namespace.every((part, index) => part === inner[index]);
    if (!isInside || !next.some((pending) => pending.task === task)) continue;
    const head = await store.thread(thread, { namespace: inner }).latest();
    if (head !== undefined && notesOf(head.metadata).outer === id) heads[task] = head.id;
  }
  return heads;
}
