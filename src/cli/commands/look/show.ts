import { inspect } from "node:util";
import { type Command, Option } from "commander";
import type { Thread } from "../../../api/thread.ts";
import { wholeRecord, writeRecord } from "../../../display/json-records.ts";
import { failuresIn } from "../../../display/steps/failure.ts";
import { questionsOf } from "../../../display/steps/question.ts";
import { resumeCode } from "../../../display/steps/resume-code.ts";
import { toTagged } from "../../../display/tagged-json.ts";
import { isInternalKey, isLangGraphState } from "../../../display/values/internals.ts";
import type { Checkpoint, Metadata, Write } from "../../../model/checkpoint.ts";
import { controlIndexes } from "../../../model/control-writes.ts";
import { declare, namespaceOption } from "../../input/declare.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { parsePath, valueAt } from "../../input/path.ts";
import { printable, printableLines, shortened } from "../../output/printable.ts";
import { bytesText, countText, dateText } from "../../output/quantities.ts";
import { readable, readableState } from "../../output/readable.ts";
import { printFacts } from "../../output/table.ts";
import type { Terminal } from "../../output/terminal.ts";
import { boundedText, LIMITS, type Limits, UNLIMITED, valuePrinter } from "../../output/value-text.ts";
import type { Session, State } from "../../session.ts";
import { answersOf } from "./inbox.ts";

export function showCommand(program: Command, session: Session): void {
  declare<{ readonly full?: boolean; readonly namespace: readonly string[] }>(program, session, {
    name: "show",
    summary: "print a checkpoint: its state, what runs next, its writes; or a part of its state",
    operands: [
      ["<thread>", "the thread"],
      ["[checkpoint]", "its id, the beginning or end of it, or @3 for step 3 (default: the head)"],
      ["[path]", "a part of the state, like messages[-1].content"],
    ],
    options: [new Option("--full", "everything, however long"), namespaceOption()],
    examples: [
      "threadmark show user-42",
      "threadmark show user-42 @3 sqlite:agent.db",
      "threadmark show user-42 @3 'messages[-1]'",
      "threadmark show user-42 --json | jq '.state | keys'",
    ],
    async run({ url, operands: [id = "", first, second], options }) {
      const { terminal, json } = session;
      const full = options.full === true;
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const { checkpoint, path } = await checkpointAndPath(thread, first, second);
        if (path !== undefined) {
          const part = valueAt(checkpoint.state, path);
          if (json) terminal.json(toTagged(part));
          else await terminal.paged(async () => printPart(terminal, full ? part : readable(part), full));
          return;
        }
        const writes = await thread.writes(checkpoint.id);
        const size = await thread.sizeOf(checkpoint.id);
        if (json) {
          terminal.json({ ...wholeRecord(checkpoint), writes: writes.map(writeRecord), size });
          return;
        }
        const bytes = `${bytesText(size.bytes)}${size.full ? ", the whole state" : ""}${size.inherited ? ", shared with its source" : ""}`;
        await terminal.paged(async () => {
          printFailures(terminal, checkpoint, writes);
          printQuestions(terminal, checkpoint, writes);
          printCheckpoint(terminal, checkpoint, bytes, full);
          printState(terminal, checkpoint.state, full);
          const others = writes.filter(
            (write) => !isTold(write) && (full || !isInternalWrite(checkpoint.state, write)),
          );
          if (others.length > 0) printWrites(terminal, others, full);
        });
      });
    },
  });
}

/** Finds a checkpoint and a path among the operands. A single operand that names no checkpoint is a path into the head. */
async function checkpointAndPath(
  thread: Thread<State>,
  first: string | undefined,
  second: string | undefined,
): Promise<{ readonly checkpoint: Checkpoint<State>; readonly path: readonly (string | number)[] | undefined }> {
  if (second !== undefined) return { checkpoint: await checkpointAt(thread, first), path: parsePath(second) };
  try {
    return { checkpoint: await checkpointAt(thread, first), path: undefined };
  } catch (error) {
    const head = first === undefined || first.startsWith("@") ? undefined : await thread.latest();
    const [key] = /^[^.[]*/.exec(first ?? "") ?? [];
    if (head === undefined || !(first?.startsWith("[") || Object.hasOwn(head.state ?? {}, key ?? ""))) throw error;
    return { checkpoint: head, path: parsePath(first as string) };
  }
}

/** Prints a part of a state: a text as it reads, everything else as a value. */
function printPart(terminal: Terminal, part: unknown, full: boolean): void {
  if (typeof part === "string") terminal.line(printableLines(part));
  else terminal.line(boundedText(terminal, part, full));
}

/** Prints the errors that a step ended with. They come first: a reader of a failed thread looks for them. */
function printFailures(terminal: Terminal, { next }: Checkpoint, writes: readonly Write[]): void {
  for (const { node, name, code, message, stack, cause } of failuresIn(writes, next)) {
    const what = `${node === null ? "" : `${node} `}failed`;
    const kind = code === undefined || code === name ? "" : terminal.style("dim", ` ${printable(code)}`);
    terminal.line(`${terminal.style(["red", "bold"], printable(`${what}: ${name}`))}${kind}`);
    for (const line of printableLines(message).split("\n")) terminal.line(terminal.style("red", `  ${line}`));
    for (let reason = cause; reason !== undefined; reason = reason.cause) {
      terminal.line(
        terminal.style("red", `  because ${printable(`${reason.code ?? reason.name}: ${reason.message}`)}`),
      );
    }
    const frames = (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
    for (const line of frames.slice(0, 5)) terminal.line(terminal.style("dim", `  ${printable(line.trim())}`));
    terminal.line();
  }
}

const ONE_LINE = { compact: true, breakLength: Number.POSITIVE_INFINITY, depth: 5 } as const;

function printCheckpoint(terminal: Terminal, checkpoint: Checkpoint, bytes: string, full: boolean): void {
  const { id, thread, namespace, parent, step, source, node, run, workflow, label, createdAt, metadata } = checkpoint;
  const next = checkpoint.next.map(({ node, arg }) =>
    arg === undefined ? node : `${node}(${inspect(arg, ONE_LINE)})`,
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
    ["path", printable(shortened(checkpoint.path.join(" → "), 400))],
    ["metadata", metadataText(full ? metadata : usersMetadata(metadata))],
  ]);
}

function metadataText(metadata: Metadata): string {
  return Object.keys(metadata).length === 0 ? "" : printable(shortened(inspect(metadata, ONE_LINE), 1_000));
}

/** Returns the metadata that the user gave, without what the runtime and LangGraph note for themselves. */
function usersMetadata(metadata: Metadata): Metadata {
  const isOwn = ([key, value]: [string, unknown]): boolean =>
    key !== "flow" && !isInternalKey(key) && !(key === "parents" && inspect(value) === "{}");
  return Object.fromEntries(Object.entries(metadata).filter(isOwn));
}

/** Prints the open questions, the answers they offer, and how to answer: a reader of a waiting thread looks for them. */
function printQuestions(terminal: Terminal, checkpoint: Checkpoint, writes: readonly Write[]): void {
  const questions = questionsOf(checkpoint, writes).filter(({ answered }) => !answered);
  for (const question of questions) {
    const { id, node, text, details, langgraph } = question;
    terminal.line(
      `${terminal.style(["yellow", "bold"], printable(`${node ?? "a task"} asks`))} ${terminal.style("dim", printable(id))}`,
    );
    for (const line of printableLines(text).split("\n")) terminal.line(terminal.style("yellow", `  ${line}`));
    const answers = answersOf(question);
    if (answers !== "") terminal.line(`  answers: ${printable(answers)}`);
    if (details !== undefined)
      terminal.line(terminal.style("dim", `  with ${printable(shortened(inspect(details, ONE_LINE), 400))}`));
    const how = langgraph
      ? resumeCode(checkpoint.thread, id, undefined, questions.length === 1)
      : `threadmark answer ${JSON.stringify(checkpoint.thread)} '…'`;
    terminal.line(terminal.style("dim", `  ${printable(how)}`));
    terminal.line();
  }
}

/** Tells whether errors and questions, which are printed first, have a write already. */
function isTold({ index, channel }: Write): boolean {
  return index === controlIndexes.error || (index === controlIndexes.interrupt && channel === "__interrupt__");
}

function isInternalWrite(state: unknown, { index, channel }: Write): boolean {
  return index >= 0 && isLangGraphState(state) && isInternalKey(channel);
}

function printState(terminal: Terminal, whole: unknown, full: boolean): void {
  const { state, internals } = full ? { state: whole, internals: 0 } : readableState(whole);
  terminal.line(`${terminal.style("dim", "state")}\n${boundedText(terminal, state, full)}`);
  if (internals > 0) terminal.line(terminal.style("dim", `internals (${internals}) of LangGraph: --full`));
}

const SHOWN_WRITES = 50;

function printWrites(terminal: Terminal, writes: readonly Write[], full: boolean): void {
  const value = valuePrinter(terminal, full ? UNLIMITED : (LIMITS[1] as Limits));
  terminal.line(terminal.style("dim", "writes"));
  const shown = full ? writes : writes.slice(0, SHOWN_WRITES);
  for (const write of shown) {
    const where = `${write.task}${write.node === null ? "" : ` (${write.node})`} ${write.index} ${write.channel}`;
    terminal.line(`  ${terminal.style("bold", printable(where))}: ${value(write.value)}`);
  }
  const left = writes.length - shown.length;
  if (left > 0) terminal.line(terminal.style("dim", `  ${countText(left, "more write")}: --full`));
}
