import type { Store } from "../../../api/store.ts";
import type { Thread } from "../../../api/thread.ts";
import { stepName } from "../../../display/steps/step-name.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import type { HistoryOptions } from "../../../model/interface/options.ts";
import { interruptible } from "../../interruptible.ts";
import { drawGraph } from "../../output/graph.ts";
import { columnsOf, printable, shortened } from "../../output/printable.ts";
import { ageText } from "../../output/quantities.ts";
import { shortIds } from "../../output/short-ids.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session, State } from "../../session.ts";
import { summariesOf } from "./summaries.ts";

/** Prints the checkpoints of a thread as a graph: branches side by side, nested graphs in lanes of their own. */
export async function printGraph(
  { terminal, signal }: Session,
  store: Store<State>,
  thread: Thread<State>,
  options: HistoryOptions,
): Promise<void> {
  const isRoot = thread.namespace.length === 0;
  const namespaces = isRoot ? await thread.namespaces() : [thread.namespace];
  const rows: CheckpointInfo[] = [];
  for (const namespace of namespaces) {
    const handle = store.thread(thread.id, { namespace });
    for await (const info of interruptible(signal, handle.history({ ...options, states: false }))) rows.push(info);
  }
  rows.sort((left, right) => right.seq - left.seq);
  const shown = rows.slice(0, options.limit ?? rows.length);
  const short = shortIds(shown.map(({ id }) => id));
  const graph = drawGraph(shown.map(({ id, parent, namespace }) => named(namespace, id, parent)));
  const heads = new Map<string, number>();
  for (const { namespace, seq } of shown) {
    const name = JSON.stringify(namespace);
    if (!heads.has(name)) heads.set(name, seq);
  }
  const now = Date.now();
  const own = shown.filter(({ namespace }) => namespace.length === thread.namespace.length);
  const summaries = await summariesOf(thread, own);
  for (const [index, info] of shown.entries()) {
    const { joins, graph: lanes } = graph[index]!;
    if (joins !== undefined) terminal.line(terminal.style("dim", joins));
    const isHead = heads.get(JSON.stringify(info.namespace)) === info.seq;
    terminal.line(
      rowText(terminal, lanes, short(info.id), info, {
        isHead,
        now,
        change: "",
        name: stepName(info),
        ...summaries.get(info.id),
      }),
    );
  }
  const forked = isRoot && rows.length === shown.length ? await forkedFrom(store, thread.id) : undefined;
  if (forked) terminal.line(terminal.style("dim", `╰ forked from ${printable(forked)}`));
}

/** Names a checkpoint by its namespace too: two namespaces may have checkpoints of one id. */
function named(namespace: readonly string[], id: string, parent: string | null): { id: string; parent: string | null } {
  const name = (checkpoint: string): string => JSON.stringify([...namespace, checkpoint]);
  return { id: name(id), parent: parent === null ? null : name(parent) };
}

function rowText(
  terminal: Terminal,
  lanes: string,
  id: string,
  info: CheckpointInfo,
  {
    isHead,
    now,
    change,
    name,
  }: { readonly isHead: boolean; readonly now: number; readonly change: string; readonly name: string },
): string {
  const { namespace, step, label, waiting, pending, createdAt } = info;
  const marks: [text: string, format: Parameters<Terminal["style"]>[0]][] = [];
  if (isHead) marks.push(["head", "green"]);
  if (waiting > 0) marks.push([waiting === 1 ? "waiting" : `waiting for ${waiting}`, "yellow"]);
  else if (isHead && pending === 0 && namespace.length === 0) marks.push(["done", "green"]);
  if (label !== "") marks.push([printable(label), "magenta"]);
  const what = printable(name);
  const where = namespace.length === 0 ? "" : printable(namespace.join("/"));
  const parts: [text: string, styled: string][] = [
    [lanes, lanes.replaceAll(/[│]/g, (bar) => terminal.style("dim", bar))],
    [id, terminal.style("yellow", printable(id))],
    [`@${step}`, terminal.style("dim", `@${step}`)],
    [what, terminal.style("bold", what)],
    [where, terminal.style("blue", where)],
    ...marks.map(([text, format]): [string, string] => [`(${text})`, terminal.style(format, `(${text})`)]),
    [ageText(createdAt, now), terminal.style("dim", ageText(createdAt, now))],
    [change, printable(change)],
  ];
  let left = terminal.columns;
  const line: string[] = [];
  for (const [text, styled] of parts) {
    if (text === "") continue;
    const width = columnsOf(text);
    if (width > left) {
      if (left > 8) line.push(shortened(text, left));
      break;
    }
    line.push(styled);
    left -= width + 1;
  }
  return line.join(" ");
}

async function forkedFrom(store: Store<State>, id: string): Promise<string | undefined> {
  return (await store.thread(id).info())?.forkedFrom?.thread;
}
