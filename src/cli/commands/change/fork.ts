import { type Command, Option } from "commander";
import { checkpointRecord } from "../../../display/json-records.ts";
import { usage } from "../../failure.ts";
import { collected, declare } from "../../input/declare.ts";
import { parseJson } from "../../input/json-argument.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { parsePath, withValueAt } from "../../input/path.ts";
import { printable } from "../../output/printable.ts";
import type { Session, State } from "../../session.ts";

interface Options {
  readonly at?: string;
  readonly into?: string;
  readonly edit: readonly string[];
  readonly history: "ancestors" | "none";
  readonly label?: string;
  readonly detached?: boolean;
}

export function forkCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "fork",
    summary: "begin a new thread at a checkpoint of another",
    operands: [["<thread>", "the thread to fork; it is not changed"]],
    options: [
      new Option("--at <checkpoint>", "where to fork: an id or part of it, or @3 for step 3 (default: the head)"),
      new Option("--into <thread>", "the id of the new thread (default: a random one)"),
      new Option("-e, --edit <path=json>", "change the state first; may be given several times")
        .argParser(collected)
        .default([], "none"),
      new Option("--history <which>", "what the fork shows of the past")
        .choices(["ancestors", "none"])
        .default("ancestors"),
      new Option("--label <text>", "the label of its first checkpoint"),
      new Option("--detached", "copy what it shows instead of sharing it"),
    ],
    examples: ["threadmark fork user-42 --at @3 --into user-42-b --edit 'plan=[\"ask first\"]'"],
    async run({ url, operands: [id = ""], options }) {
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id);
        const at = await checkpointAt(thread, options.at);
        const { into, history, label } = options;
        const edits = options.edit.length === 0 ? undefined : editsOf(at.state, options.edit);
        const fork = await thread.fork({
          at: at.id,
          history,
          ...(into !== undefined && { into }),
          ...(edits !== undefined && { edits }),
          ...(label !== undefined && { label }),
          ...(options.detached === true && { detached: true }),
        });
        const { state: _, path, next, completed, interrupts, barriers, ...head } = await checkpointAt(fork, undefined);
        if (session.json) session.terminal.json({ thread: fork.id, head: checkpointRecord(head) });
        else session.terminal.line(printable(fork.id));
      });
    },
  });
}

/** Returns the top-level keys that the edits replace; a deeper path changes a copy of its key. */
function editsOf(state: State, texts: readonly string[]): State {
  const touched = new Set<string>();
  let edited: unknown = state;
  for (const text of texts) {
    const equals = text.indexOf("=");
    if (equals < 1) throw usage(`${JSON.stringify(text)} is no edit. Write it like plan=["ask first"].`);
    const path = parsePath(text.slice(0, equals));
    edited = withValueAt(edited, path, parseJson(text.slice(equals + 1)));
    touched.add(String(path[0]));
  }
  return Object.fromEntries([...touched].map((key) => [key, (edited as State)[key]]));
}
