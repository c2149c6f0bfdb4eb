import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { Store } from "../../../api/store.ts";
import type { Thread } from "../../../api/thread.ts";
import { checkpointRecord } from "../../../display/json-records.ts";
import type { CheckpointInfo, CheckpointTuple, Metadata } from "../../../model/checkpoint.ts";
import type { Notes } from "../../../runtime/thread/graph-position.ts";
import { declare, namespaceOption } from "../../input/declare.ts";
import { parseJson } from "../../input/json-argument.ts";
import { existingThread } from "../../input/lookup.ts";
import { parsePath, withValueAt } from "../../input/path.ts";
import { printable } from "../../output/printable.ts";
import type { Session, State } from "../../session.ts";

export function setCommand(program: Command, session: Session): void {
  declare<{ readonly namespace: readonly string[] }>(program, session, {
    name: "set",
    summary: "change the state of a thread by hand: a checkpoint of source update",
    operands: [
      ["<thread>", "the thread"],
      ["<path>", "where in the state: draft, messages[0].text"],
      ["<json>", "the new value"],
    ],
    options: [namespaceOption()],
    examples: ["threadmark set user-42 draft '\"another way\"'", "threadmark set user-42 'plan[1].done' true"],
    async run({ url, operands: [id = "", path = "", json = ""], options }) {
      const [steps, value] = [parsePath(path), parseJson(json)];
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const head = (await thread.tuple())!;
        const info = await putUpdate(store, thread, head, withValueAt(head.checkpoint.state, steps, value) as State);
        if (session.json) session.terminal.json(checkpointRecord(info));
        else session.terminal.line(printable(info.id));
      });
    },
  });
}

/**
 * Commits an edited state. Pending tasks stay pending and finished tasks stay finished; throws `CONFLICT` if a run
 * committed meanwhile.
 */
async function putUpdate(
  store: Store<State>,
  thread: Thread<State>,
  { checkpoint, writes }: CheckpointTuple<State>,
  state: State,
): Promise<CheckpointInfo> {
  const { node, path, completed, interrupts, barriers } = checkpoint;
  // A task without a key gets its key from its position, which changes with the step: so it is written down.
  const next = checkpoint.next.map((task, index) => ({ ...task, task: task.task ?? `${checkpoint.step}.${index}` }));
  const fields = { source: "update", node, path, next, completed, interrupts, barriers, state } as const;
  const options = { expect: checkpoint.id };
  const at = await nestedGraphs(store, thread, checkpoint, next);
  const { metadata } = checkpoint;
  if (writes.length === 0 && at === undefined) return thread.put({ ...fields, metadata }, options);
  const id = randomUUID();
  const flow = { ...(metadata["flow"] as Metadata | undefined), ...(at !== undefined && { nested: { of: id, at } }) };
  // The writes come first: a run that sees the new head must not repeat finished tasks.
  for (const { task, node: of, ...write } of writes) await thread.putWrites(id, { task, node: of, writes: [write] });
  return thread.put({ ...fields, id, metadata: at === undefined ? metadata : { ...metadata, flow } }, options);
}

/**
 * Returns the heads of the graphs nested in these tasks, in the runtime's notation, so that they continue from there.
 */
async function nestedGraphs(
  store: Store<State>,
  thread: Thread<State>,
  { id, namespace, metadata }: CheckpointInfo,
  next: readonly { readonly node: string; readonly task: string }[],
): Promise<Record<string, string> | undefined> {
  const at = { ...(metadata["flow"] as Notes | undefined)?.nested?.at };
  for (const inner of await store.thread(thread.id).namespaces()) {
    const [node, task = ""] = inner.slice(-2);
    const isNested = inner.length === namespace.length + 2 && namespace.every((part, index) => part === inner[index]);
    if (!isNested || !next.some((one) => one.node === node && one.task === task)) continue;
    const head = await store.thread(thread.id, { namespace: inner }).latest();
    if (head !== undefined && (head.metadata["flow"] as Notes | undefined)?.outer === id) at[task] = head.id;
  }
  return Object.keys(at).length === 0 ? undefined : at;
}
