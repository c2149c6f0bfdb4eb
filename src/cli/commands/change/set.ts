import type { Command } from "commander";
import { checkpointRecord } from "../../../display/json-records.ts";
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
        // Loaded here, so that no other command pays for the runtime.
        const { editState } = await import("../../../runtime/outside/edit-state.ts");
        const info = await editState(store, thread, head, withValueAt(head.checkpoint.state, steps, value) as State);
        if (session.json) session.terminal.json(checkpointRecord(info));
        else session.terminal.line(printable(info.id));
      });
    },
  });
}
