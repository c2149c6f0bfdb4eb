import { type Command, Option } from "commander";
import { changeRecord } from "../../../display/json-records.ts";
import { isInternalKey, isLangGraphState } from "../../../display/values/internals.ts";
import type { Change } from "../../../model/interface/results.ts";
import { usage } from "../../failure.ts";
import { declare, namespaceOption } from "../../input/declare.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { pathText } from "../../input/path.ts";
import { printable } from "../../output/printable.ts";
import { readable } from "../../output/readable.ts";
import { LIMITS, type Limits, valuePrinter } from "../../output/value-text.ts";
import type { Session } from "../../session.ts";

export function diffCommand(program: Command, session: Session): void {
  declare<{ readonly full?: boolean; readonly namespace: readonly string[] }>(program, session, {
    name: "diff",
    summary: "print what differs between the states of two checkpoints",
    operands: [
      ["<thread>", "the thread"],
      ["[before]", "a checkpoint (default: the parent of the other)"],
      ["[after]", "a checkpoint (default: the head)"],
    ],
    options: [new Option("--full", "LangGraph's own keys too, and values as they are stored"), namespaceOption()],
    examples: ["threadmark diff user-42 @1 @2", "threadmark diff user-42          # the head against its parent"],
    async run({ url, operands: [id = "", first, second], options }) {
      const { terminal, json } = session;
      const full = options.full === true;
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const after = await checkpointAt(thread, second ?? (first === undefined ? undefined : first));
        const reference = second === undefined ? after.parent : first;
        if (reference === null) throw usage(`Checkpoint ${after.id} has no parent. Name another to compare it with.`);
        const before = await checkpointAt(thread, reference);
        const print = valuePrinter(terminal, LIMITS[0] as Limits);
        const value = (one: unknown): string => print(full ? one : readable(one));
        const changes = await thread.diff(before.id, after.id);
        const isInternal = ({ path: [key] }: Change): boolean =>
          !full && !json && isLangGraphState(after.state) && typeof key === "string" && isInternalKey(key);
        const internals = changes.filter(isInternal).length;
        for (const change of changes) {
          if (isInternal(change)) continue;
          if (json) {
            terminal.json(changeRecord(change));
            continue;
          }
          const path = printable(pathText(change.path)) || "(the state)";
          if (change.kind === "added") terminal.line(terminal.style("green", `+ ${path}: ${value(change.after)}`));
          else if (change.kind === "removed")
            terminal.line(terminal.style("red", `- ${path}: ${value(change.before)}`));
          else {
            terminal.line(terminal.style("yellow", `~ ${path}`));
            terminal.line(terminal.style("red", beside("  - ", value(change.before))));
            terminal.line(terminal.style("green", beside("  + ", value(change.after))));
          }
        }
        if (json) return;
        if (changes.length === 0) terminal.note("The states are equal.");
        if (internals > 0) terminal.line(terminal.style("dim", `internals (${internals}) of LangGraph: --full`));
      });
    },
  });
}

/** Puts a mark before a text, and the text's other lines below its first one. */
function beside(mark: string, text: string): string {
  return mark + text.replaceAll("\n", `\n${" ".repeat(mark.length)}`);
}
