import { type Command, Option } from "commander";
import type { WatchOptions } from "../../../model/interface/store-options.ts";
import { type ChangeKind, changeKinds, type WatchedChange } from "../../../model/interface/watched-changes.ts";
import { usage } from "../../failure.ts";
import { collected, declare, namespaceOption, wholeNumber } from "../../input/declare.ts";
import { printable } from "../../output/printable.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session } from "../../session.ts";
import { followThread, type TailOptions } from "./follow-thread.ts";

interface Options extends TailOptions {
  readonly thread?: string;
  readonly workflow?: string;
  readonly kind: readonly string[];
  readonly after?: string;
}

export function tailCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "tail",
    alias: "watch",
    summary: "follow a thread, or every change of the store, as it is committed, until Ctrl-C",
    operands: [["[thread]", "print this thread's checkpoints; without it, every change of the store"]],
    options: [
      new Option("--lines <count>", "of a thread: how many of the newest to begin with")
        .argParser(wholeNumber(0))
        .default(10),
      new Option("--states", "of a thread, with --json: whole checkpoints, with their states"),
      namespaceOption(),
      new Option("--thread <id>", "of the store: only changes of this thread"),
      new Option("--workflow <name>", "of the store: only changes of threads of this workflow"),
      new Option("--kind <kind>", `of the store: only changes of this kind; ${changeKinds.join(", ")}`)
        .argParser(collected)
        .default([], "all"),
      new Option("--after <cursor>", "of the store: go on behind the change with this cursor"),
      // Commands written for earlier versions, which looked from time to time, go on to work.
      new Option("--interval <milliseconds>").argParser(wholeNumber(1)).hideHelp(),
    ],
    examples: [
      "threadmark tail user-42",
      "threadmark tail user-42 --json --lines 0 | jq -r .node",
      "threadmark tail --workflow support --json",
    ],
    async run({ url, operands: [id], options }) {
      const { thread, workflow, kind, after } = options;
      if (id === undefined) return followStore(session, url, options);
      if (thread !== undefined || workflow !== undefined || kind.length > 0 || after !== undefined) {
        throw usage("--thread, --workflow, --kind and --after are for the changes of a store: leave the thread away.");
      }
      return followThread(session, url, id, options);
    },
  });
}

/** Prints the changes of a store as they are committed, until the session is interrupted. */
async function followStore(session: Session, url: string, options: Options): Promise<void> {
  const { terminal, json, signal } = session;
  await session.withStore(url, async (store) => {
    for await (const change of store.watch({ ...chosen(options), signal })) {
      if (json) terminal.json({ ...change });
      else printChange(terminal, change);
    }
  });
}

function chosen({ thread, workflow, kind, after }: Options): WatchOptions {
  const unknown = kind.find((name) => !changeKinds.includes(name as ChangeKind));
  if (unknown !== undefined) throw usage(`${unknown} is no kind of change. Kinds are ${changeKinds.join(", ")}.`);
  return {
    ...(thread !== undefined && { thread }),
    ...(workflow !== undefined && { workflow }),
    ...(kind.length > 0 && { kinds: kind as readonly ChangeKind[] }),
    ...(after !== undefined && { after }),
  };
}

function printChange(terminal: Terminal, { kind, thread, namespace, id, seq }: WatchedChange): void {
  const parts = [
    kind.padEnd(10),
    terminal.style("bold", printable(thread)),
    printable(namespace.join(" / ")),
    String(seq),
    terminal.style("dim", printable(id ?? "")),
  ];
  terminal.line(parts.filter((part) => part !== "").join("  "));
}
