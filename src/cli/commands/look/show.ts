import { inspect } from "node:util";
import { type Command, Option } from "commander";
import { wholeRecord, writeRecord } from "../../../display/json-records.ts";
import { UnregisteredInstance } from "../../../display/tagged-json.ts";
import type { Checkpoint, Write } from "../../../model/checkpoint.ts";
import { declare, namespaceOption } from "../../input/declare.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { printable, printableLines } from "../../output/printable.ts";
import { bytesText, dateText } from "../../output/quantities.ts";
import { printFacts } from "../../output/table.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session } from "../../session.ts";

export function showCommand(program: Command, session: Session): void {
  declare<{ readonly full?: boolean; readonly namespace: readonly string[] }>(program, session, {
    name: "show",
    summary: "print a checkpoint: its state, what runs next, its writes",
    operands: [
      ["<thread>", "the thread"],
      ["[checkpoint]", "its id, the beginning or end of it, or @3 for step 3 (default: the head)"],
    ],
    options: [new Option("--full", "long lists and texts too, to their end"), namespaceOption()],
    examples: [
      "threadmark show user-42",
      "threadmark show user-42 @3 sqlite:agent.db",
      "threadmark show user-42 --json | jq '.state | keys'",
    ],
    async run({ url, operands: [id = "", reference], options }) {
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const checkpoint = await checkpointAt(thread, reference);
        const writes = await thread.writes(checkpoint.id);
        const size = await thread.sizeOf(checkpoint.id);
        if (session.json) {
          session.terminal.json({ ...wholeRecord(checkpoint), writes: writes.map(writeRecord), size });
          return;
        }
        const bytes = `${bytesText(size.bytes)}${size.full ? ", the whole state" : ""}${size.inherited ? ", shared with its source" : ""}`;
        printCheckpoint(session.terminal, checkpoint, bytes);
        const value = valuePrinter(session.terminal, options.full === true);
        session.terminal.line(`${session.terminal.style("dim", "state")}\n${value(checkpoint.state)}`);
        if (writes.length > 0) printWrites(session.terminal, writes, value);
      });
    },
  });
}

function printCheckpoint(terminal: Terminal, checkpoint: Checkpoint, bytes: string): void {
  const { id, thread, namespace, parent, step, source, node, run, workflow, label, createdAt, metadata } = checkpoint;
  const next = checkpoint.next.map(({ node, arg }) =>
    arg === undefined ? node : `${node}(${inspect(arg, { breakLength: Number.POSITIVE_INFINITY })})`,
  );
  const asked = checkpoint.interrupts.map(
    ({ id, node, value }) => `${node} (${id}): ${inspect(value, { breakLength: 100 })}`,
  );
  printFacts(terminal, [
    ["checkpoint", terminal.style("bold", printable(id))],
    ["thread", printable([thread, ...namespace].join(" / "))],
    ["parent", printable(parent ?? "none")],
    ["step", `${step}, ${source}${node === null ? "" : `, after ${printable(node)}`}`],
    ["workflow", printable(workflow ?? "")],
    ["run", printable(run ?? "")],
    ["label", printable(label)],
    ["committed", dateText(createdAt)],
    ["bytes", bytes],
    ["next", printable(next.join(", ")) || "nothing"],
    ["path", printable(checkpoint.path.join(" → "))],
    ["waits for", terminal.style("yellow", printable(asked.join("; ")))],
    [
      "metadata",
      Object.keys(metadata).length === 0
        ? ""
        : printable(inspect(metadata, { depth: 5, breakLength: Number.POSITIVE_INFINITY })),
    ],
  ]);
}

function printWrites(terminal: Terminal, writes: readonly Write[], value: (value: unknown) => string): void {
  terminal.line(terminal.style("dim", "writes"));
  for (const write of writes) {
    const where = `${write.task}${write.node === null ? "" : ` (${write.node})`} ${write.index} ${write.channel}`;
    terminal.line(`  ${terminal.style("bold", printable(where))}: ${value(write.value)}`);
  }
}

/**
 * Returns a function that formats values as Node does: rich types with their names, control characters escaped. Node
 * does not escape those in errors and patterns; a text with any is printed without colour, since they look like colour
 * sequences.
 */
export function valuePrinter(terminal: Terminal, full: boolean): (value: unknown) => string {
  const limit = full ? Number.POSITIVE_INFINITY : undefined;
  const colors = terminal.style("bold", "x") !== "x";
  const options = {
    depth: Number.POSITIVE_INFINITY,
    colors,
    maxArrayLength: limit ?? 100,
    maxStringLength: limit ?? 2_000,
    breakLength: Math.min(terminal.columns, 120),
  };
  return (value) => {
    const shown = value instanceof UnregisteredInstance ? { ...value } : value;
    const text = inspect(shown, { ...options, colors: false });
    const safe = printableLines(text);
    return colors && safe === text ? inspect(shown, options) : safe;
  };
}
