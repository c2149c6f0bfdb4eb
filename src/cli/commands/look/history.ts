import { type Command, Option } from "commander";
import { checkpointRecord, wholeRecord } from "../../../display/json-records.ts";
import { type CheckpointInfo, type Source, sources } from "../../../model/checkpoint.ts";
import type { HistoryOptions } from "../../../model/interface/options.ts";
import { declare, namespaceOption, wholeNumber } from "../../input/declare.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { interruptible } from "../../interruptible.ts";
import { printable } from "../../output/printable.ts";
import { ageText } from "../../output/quantities.ts";
import { shortIds } from "../../output/short-ids.ts";
import { printTable, type TableColumn } from "../../output/table.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session } from "../../session.ts";
import { printGraph } from "./history-graph.ts";
import { type StepText, summariesOf } from "./summaries.ts";

const SHOWN = 100;

interface Options {
  readonly limit?: number;
  readonly before?: string;
  readonly run?: string;
  readonly source?: Source;
  readonly states?: boolean;
  readonly graph?: boolean;
  readonly namespace: readonly string[];
}

export function historyCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "history",
    summary: "list the checkpoints of a thread, newest first",
    operands: [["<thread>", "the thread"]],
    options: [
      new Option("-l, --limit <count>", `how many (default: ${SHOWN}; with --json all)`).argParser(wholeNumber(1)),
      new Option("--before <checkpoint>", "only those committed before this one"),
      new Option("--run <run>", "only those of this run"),
      new Option("--source <source>", "only those from there").choices(sources),
      new Option("-g, --graph", "draw branches and nested graphs"),
      new Option("--states", "with --json: whole checkpoints, with their states"),
      namespaceOption(),
    ],
    examples: [
      "threadmark history user-42 --limit 20",
      "threadmark history user-42 --graph",
      "threadmark history user-42 --json | jq -r .node",
    ],
    async run({ url, operands: [id = ""], options }) {
      const { terminal, json, signal } = session;
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const { run, source } = options;
        const before = options.before === undefined ? undefined : (await checkpointAt(thread, options.before)).id;
        const limit = options.limit ?? (json ? undefined : SHOWN);
        const wanted = Object.entries({ run, source, before, limit }).filter(([, value]) => value !== undefined);
        const history = { ...Object.fromEntries(wanted) } as HistoryOptions;
        if (json && options.states) {
          for await (const whole of interruptible(signal, thread.history({ ...history, states: true })))
            terminal.json(wholeRecord(whole));
          return;
        }
        if (!json && options.graph) {
          await terminal.paged(() => printGraph(session, store, thread, history));
          return;
        }
        const rows: CheckpointInfo[] = [];
        for await (const info of interruptible(signal, thread.history({ ...history, states: false }))) {
          if (json) terminal.json(checkpointRecord(info));
          else rows.push(info);
        }
        if (json) return;
        if (rows.length > 0) {
          const summaries = terminal.interactive ? await summariesOf(thread, rows) : new Map<string, StepText>();
          await terminal.paged(async () => printTable(terminal, checkpointColumns(terminal, rows, summaries), rows));
        }
        const last = rows.at(-1);
        if (options.limit === undefined && rows.length === SHOWN && last?.parent) {
          terminal.note(`The newest ${SHOWN}. Go on with --before ${printable(last.id)}`);
        }
      });
    },
  });
}

function checkpointColumns(
  terminal: Terminal,
  rows: readonly CheckpointInfo[],
  summaries: ReadonlyMap<string, StepText>,
): readonly TableColumn<CheckpointInfo>[] {
  const now = Date.now();
  // In a pipe ids are whole: whatever reads them may look for them elsewhere.
  const short = terminal.interactive ? shortIds(rows.map(({ id }) => id)) : (id: string): string => id;
  return [
    { title: "CHECKPOINT", text: ({ id }) => short(id), flexible: true },
    { title: "STEP", text: ({ step }) => String(step), align: "right" },
    {
      title: "NODE",
      text: ({ id, node }) => summaries.get(id)?.name ?? node ?? "",
      flexible: true,
      style: (text) => terminal.style("bold", text),
      leaves: 8,
    },
    { title: "NEXT", text: ({ pending }) => (pending === 0 ? "" : String(pending)), align: "right", leaves: 2 },
    {
      title: "WAITING",
      text: ({ waiting }) => (waiting === 0 ? "" : String(waiting)),
      align: "right",
      style: (text) => terminal.style("yellow", text),
      leaves: 5,
    },
    { title: "RUN", text: ({ run }) => run ?? "", flexible: true, leaves: 1 },
    {
      title: "LABEL",
      text: ({ label }) => label,
      flexible: true,
      style: (text) => terminal.style("magenta", text),
      leaves: 7,
    },
    { title: "COMMITTED", text: ({ createdAt }) => ageText(createdAt, now), leaves: 4 },
    { title: "CHANGE", text: ({ id }) => summaries.get(id)?.change ?? "", flexible: true, least: 28, cut: "end" },
  ];
}
