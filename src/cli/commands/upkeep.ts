import { type Command, Option } from "commander";
import type { Store } from "../../api/store.ts";
import { careFacts } from "../../display/care.ts";
import type { Fault, MeasuredStats, Stats } from "../../model/interface/results.ts";
import { CommandFailure, damagedThreads, exitCodes, failIfDamaged } from "../failure.ts";
import { declare } from "../input/declare.ts";
import { printable } from "../output/printable.ts";
import { ProgressLine } from "../output/progress.ts";
import { bytesText, changeText, countText, dateText } from "../output/quantities.ts";
import { printFacts } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import type { Session, State } from "../session.ts";

export function verifyCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "verify",
    summary: "read everything back and report every fault",
    examples: ["threadmark verify sqlite:agent.db"],
    async run({ url }) {
      const { terminal, json } = session;
      const result = await session.withStore(url, (store) =>
        ProgressLine.during(session, "verifying, threads:", async (update) => {
          const { threads } = await store.counts();
          update(0, threads);
          return store.verify({ progress: (done) => update(done, threads) });
        }),
      );
      if (json) terminal.json(result);
      else {
        printFaults(terminal, result.faults);
        if (result.ok) terminal.note("No faults.");
      }
      if (!result.ok)
        throw new CommandFailure(exitCodes.faulty, "FAULTY", `${countText(result.faults.length, "fault")} found.`);
    },
  });
}

/** How many faults of a thread are printed: a damaged frame is a fault of every checkpoint that builds on it. */
const FAULTS_OF_ONE = 5;

function printFaults(terminal: Terminal, faults: readonly Fault[]): void {
  const byThread = new Map<string, Fault[]>();
  for (const fault of faults) {
    const found = byThread.get(fault.thread);
    if (found) found.push(fault);
    else byThread.set(fault.thread, [fault]);
  }
  for (const [thread, found] of byThread) {
    const name = terminal.style("red", printable(thread || "store"));
    for (const { checkpoint, message } of found.slice(0, FAULTS_OF_ONE))
      terminal.line(`${name}${checkpoint === null ? "" : ` / ${printable(checkpoint)}`}: ${printable(message)}`);
    const more = found.length - FAULTS_OF_ONE;
    if (more > 0) terminal.line(`${name}: ${countText(more, "more fault")}; --json lists them all`);
  }
}

const kinds: readonly (readonly [keyof Stats["bytes"], string])[] = [
  ["packs", "older checkpoints, sealed"],
  ["tail", "newest checkpoints"],
  ["writes", "results of tasks"],
  ["values", "large values"],
  ["metadata", "what is known of threads, labels"],
  ["index", "finding checkpoints by id"],
  ["directory", "finding threads by id"],
  ["entries", "finding threads by anything else"],
  ["log", "telling watchers of changes"],
  ["total", "on the medium"],
];

export function statsCommand(program: Command, session: Session): void {
  declare<{ readonly measure?: boolean }>(program, session, {
    name: "stats",
    summary: "tell threads, bytes and upkeep; of a small store also checkpoints and bytes by kind",
    options: [new Option("--measure", "read every thread and measure every record, whatever the size of the store")],
    examples: ["threadmark stats sqlite:agent.db", "threadmark stats --measure --json | jq .checkpoints"],
    async run({ url, options: { measure = false } }) {
      const { terminal, json } = session;
      const stats = await session.withStore(url, (store) => (measure ? measured(session, store) : store.stats()));
      if (json) {
        terminal.json(stats);
        return;
      }
      const { threads, checkpoints, bytes } = stats;
      printFacts(terminal, [
        ["threads", threads.toLocaleString("en")],
        ...(checkpoints === null ? [] : [["checkpoints", checkpoints.toLocaleString("en")] as const]),
        ...kinds.flatMap(([kind, meaning]) => {
          const size = bytes[kind];
          if (size === null) return [];
          return [[kind, `${bytesText(size).padStart(10)}  ${terminal.style("dim", meaning)}`] as const];
        }),
        ...careFacts(stats, Date.now(), dateText).map(([name, text]) => [name, printable(text)] as const),
      ]);
      if (checkpoints === null) terminal.note("--measure reads everything, and tells checkpoints and bytes by kind.");
    },
  });
}

function measured(session: Session, store: Store<State>): Promise<MeasuredStats> {
  return ProgressLine.during(session, "measuring, threads:", async (update) => {
    const { threads } = await store.counts();
    update(0, threads);
    return store.measure({ progress: (done) => update(done, threads) });
  });
}

export function reindexCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "reindex",
    summary: "make the index by which threads are found anew",
    examples: ["threadmark reindex sqlite:agent.db"],
    async run({ url }) {
      const { terminal, json, signal } = session;
      const threads = await session.withStore(url, (store) =>
        ProgressLine.during(session, "indexing, threads:", (update) =>
          store.reindex({ progress: (done) => update(done), signal }),
        ),
      );
      if (json) terminal.json({ threads });
      else terminal.note(`${countText(threads, "thread")} indexed.`);
    },
  });
}

export function compactCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "compact",
    summary: "remove from the medium what no checkpoint reaches any more",
    examples: ["threadmark compact sqlite:agent.db"],
    async run({ url }) {
      const { terminal, json } = session;
      const { damaged, ...sizes } = await session.withStore(url, async (store) => {
        const { threads, bytes } = await store.stats();
        const damaged = await ProgressLine.during(session, "compacting, threads:", (update) => {
          update(0, threads);
          return damagedThreads(store.compact({ progress: (done) => update(done, threads) }));
        });
        return { before: bytes.total, after: (await store.stats()).bytes.total, damaged };
      });
      if (json) terminal.json(sizes);
      else terminal.note(changeText(sizes.before, sizes.after) ?? "Compacted.");
      failIfDamaged(damaged);
    },
  });
}
