import { setTimeout as wait } from "node:timers/promises";
import { type Command, Option } from "commander";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { checkpointRecord, wholeRecord } from "../../records.ts";
import { declare, namespaceOption, wholeNumber } from "../declare.ts";
import { existingThread } from "../lookup.ts";
import { printable } from "../printable.ts";
import { dateText } from "../quantities.ts";
import type { Session } from "../session.ts";
import type { Terminal } from "../terminal.ts";

interface Options {
  readonly lines: number;
  readonly interval: number;
  readonly states?: boolean;
  readonly namespace: readonly string[];
}

export function tailCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "tail",
    summary: "follow a thread: print new checkpoints as they are committed, until Ctrl-C",
    operands: [["<thread>", "the thread"]],
    options: [
      new Option("--lines <count>", "how many of the newest to begin with").argParser(wholeNumber(0)).default(10),
      new Option("--interval <milliseconds>", "how often to look").argParser(wholeNumber(1)).default(500),
      new Option("--states", "with --json: whole checkpoints, with their states"),
      namespaceOption(),
    ],
    examples: ["threadmark tail user-42", "threadmark tail user-42 --json --lines 0 | jq -r .node"],
    async run({ url, operands: [id = ""], options }) {
      const { terminal, json, signal } = session;
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, options.namespace);
        const newest = (await thread.latest())!;
        let seen = newest.seq;
        await print(await collect(newest.seq + 1, options.lines));
        while (!signal.aborted) {
          await wait(options.interval, undefined, { signal }).catch(() => undefined);
          const fresh = await collect(Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, seen);
          seen = fresh.at(-1)?.seq ?? seen;
          await print(fresh);
        }

        /** Oldest first: up to `count` below `before`, down to what was seen already. */
        async function collect(
          before: number,
          count: number,
          after = Number.NEGATIVE_INFINITY,
        ): Promise<CheckpointInfo[]> {
          const found: CheckpointInfo[] = [];
          if (count === 0) return found;
          for await (const info of thread.history({ before })) {
            if (info.seq <= after) break;
            found.push(info);
            if (found.length >= count) break;
          }
          return found.reverse();
        }

        async function print(infos: readonly CheckpointInfo[]): Promise<void> {
          for (const info of infos) {
            if (!json) printLine(terminal, info);
            else if (!options.states) terminal.json(checkpointRecord(info));
            else {
              const whole = await thread.get(info.id);
              if (whole !== undefined) terminal.json(wholeRecord(whole));
            }
          }
        }
      });
    },
  });
}

function printLine(
  terminal: Terminal,
  { id, step, source, node, pending, waiting, label, createdAt }: CheckpointInfo,
): void {
  const state =
    waiting > 0 ? terminal.style("yellow", "waiting") : pending === 0 ? terminal.style("green", "done") : "";
  const what = terminal.style("bold", printable(node ?? source));
  const parts = [
    terminal.style("dim", dateText(createdAt)),
    String(step).padStart(4),
    what,
    state,
    printable(label),
    terminal.style("dim", printable(id)),
  ];
  terminal.line(parts.filter((part) => part !== "").join("  "));
}
