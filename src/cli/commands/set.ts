import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { CheckpointInfo, CheckpointTuple } from "../../model/checkpoint.ts";
import { checkpointRecord } from "../../records.ts";
import type { Thread } from "../../thread.ts";
import { declare, namespaceOption } from "../declare.ts";
import { parseJson } from "../json-argument.ts";
import { existingThread } from "../lookup.ts";
import { parsePath, withValueAt } from "../path.ts";
import { printable } from "../printable.ts";
import type { Session, State } from "../session.ts";

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
        const info = await putUpdate(thread, head, withValueAt(head.checkpoint.state, steps, value) as State);
        if (session.json) session.terminal.json(checkpointRecord(info));
        else session.terminal.line(printable(info.id));
      });
    },
  });
}

/** What was pending stays pending, and what had finished stays finished; a run that went on meanwhile is a conflict. */
async function putUpdate(
  thread: Thread<State>,
  { checkpoint, writes }: CheckpointTuple<State>,
  state: State,
): Promise<CheckpointInfo> {
  const { node, path, next, completed, interrupts, barriers, metadata } = checkpoint;
  const fields = { source: "update", node, path, next, completed, interrupts, barriers, metadata } as const;
  const options = { expect: checkpoint.id };
  if (writes.length === 0) return thread.put({ ...fields, state }, options);
  // The writes come first: whoever sees the new head must not run again what had finished.
  const id = randomUUID();
  for (const { task, node: of, ...write } of writes) await thread.putWrites(id, { task, node: of, writes: [write] });
  return thread.put({ ...fields, id, state }, options);
}
