import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import { checkState } from "../systems/check-state.ts";
import { History } from "../systems/measured-thread.ts";
import { postgresSaver, sqliteSaver, threadmarkSaver } from "../systems/savers.ts";
import type { Opened, System } from "../systems/system.ts";
import { warmSteps } from "../systems/warm-steps.ts";
import { agent, type Chat, langchain } from "../workloads/langchain.ts";
import type { Step } from "../workloads/workload.ts";

const messages = 1_000;

type Fsync = "normal" | "full";

interface Limits {
  readonly step?: number;
  readonly latest?: number;
  readonly list?: number;
  readonly bytes?: number;
}

/** A saver with a conversation in it, and the step it will take next. */
class Side {
  readonly system: System;
  readonly opened: Opened;
  readonly history: History;
  #next: Step | undefined;

  private constructor(system: System, opened: Opened, chat: Chat) {
    this.system = system;
    this.opened = opened;
    this.history = new History(opened, chat, "conversation");
  }

  static async begin({ place, quick }: Context, system: System, fsync: Fsync, chat: Chat): Promise<Side> {
    const side = new Side(system, await system.open(await place.home(system.home, fsync)), chat);
    // Of the others' time the compiler decides little.
    await warmSteps(side.opened, quick ? 4 : system.kind === "peer" ? 8 : 20, chat);
    await side.history.begin(chat.of(messages));
    return side;
  }

  prepare(): void {
    this.#next = this.history.next();
    this.history.thread.prepare?.(this.#next);
  }

  step(): unknown {
    return this.history.thread.step(this.#next as Step);
  }

  latest(): unknown {
    return this.history.thread.latest?.();
  }

  async list(): Promise<void> {
    const count = await this.history.thread.history?.(10, true);
    if (count !== 10) throw new Error(`Ten checkpoints were asked for, ${count} came.`);
  }

  async check(): Promise<void> {
    const state = await this.history.thread.latest?.();
    checkState(state ?? {}, this.history.state, this.system.name);
  }
}

async function beside(
  context: Context,
  [original, own]: readonly [System, System],
  fsync: Fsync,
  limits: Limits,
  chat: Chat = langchain,
): Promise<void> {
  const { report, quick } = context;
  const other = await Side.begin(context, original, fsync, chat);
  const ours = await Side.begin(context, own, fsync, chat);
  const before = { ours: await ours.opened.bytes(), other: await other.opened.bytes() };
  // Turns long enough that a step finds the caches of the processor as the last step of its own left them: the first four
  // of a turn take up to twice as long as the others, and no process uses two savers in turns.
  const step = await compare(
    quick ? { rounds: 2, warmUp: 2, batch: 8 } : { rounds: 5, batch: 24 },
    () => ours.step(),
    () => other.step(),
    (side) => (side === "ours" ? ours : other).prepare(),
  );
  await ours.check();
  await other.check();
  const steps = ours.history.steps;
  const reads = { rounds: quick ? 3 : 7, batch: 1 };
  // Reads are the same however commits are synced: they are measured where something is said of them.
  const latest = limits.latest
    ? await compare(
        reads,
        () => ours.latest(),
        () => other.latest(),
      )
    : undefined;
  const list = limits.list
    ? await compare(
        { ...reads, rounds: quick ? 1 : 3 },
        () => ours.list(),
        () => other.list(),
      )
    : undefined;
  const bytes = {
    ours: (((await ours.opened.bytes()) ?? 0) - (before.ours ?? 0)) / steps,
    other: (((await other.opened.bytes()) ?? 0) - (before.other ?? 0)) / steps,
  };
  await ours.opened.close();
  await other.opened.close();
  const name = `LangGraph on ${own.home}${own.home === "SQLite" ? `, fsync ${fsync}` : ""}`;
  report.table(
    `${name}: ${chat.title}, ${messages} messages, one step = putWrites + put`,
    [
      { title: "saver" },
      { title: "step p50", unit: "ms" },
      { title: "getTuple p50", unit: "ms" },
      { title: "list of 10 p50", unit: "ms" },
      { title: "bytes a step", unit: "bytes" },
    ],
    [
      [own.name, step.ours.p50, latest?.ours.p50 ?? null, list?.ours.p50 ?? null, bytes.ours],
      [original.name, step.other.p50, latest?.other.p50 ?? null, list?.other.p50 ?? null, bytes.other],
    ],
  );
  const least = { least: true };
  if (limits.step) report.target(`${name}: a step, times faster`, 1 / step.p50, limits.step, least);
  if (latest && limits.latest) report.target(`${name}: getTuple, times faster`, 1 / latest.p50, limits.latest, least);
  if (list && limits.list) report.target(`${name}: list of 10, times faster`, 1 / list.p50, limits.list, least);
  if (limits.bytes) report.target(`${name}: bytes, times fewer`, bytes.other / bytes.ours, limits.bytes, least);
}

const clientOf = ({ place }: Context): Parameters<typeof postgresSaver>[0] => place.client.bind(place);
const onSqlite = (context: Context): readonly [System, System] => [
  sqliteSaver(),
  threadmarkSaver("SQLite", clientOf(context)),
];
const limits = { step: 18, latest: 4, list: 5, bytes: 200 };

/** The saver beside LangGraph's own, with the message objects that graphs have. */
export const langgraph: Part = {
  name: "langgraph",
  title: "ThreadmarkSaver beside SqliteSaver, 1,000 LangChain messages",
  run: (context) => beside(context, onSqlite(context), "normal", limits),
};

export const langgraphAgent: Part = {
  name: "langgraph-agent",
  title: "the same with tool calls, and with what models report",
  run: async (context) => {
    if (!context.quick) await beside(context, onSqlite(context), "normal", {}, agent);
  },
};

export const langgraphSynced: Part = {
  name: "langgraph-synced",
  title: "the same with a sync at every commit",
  run: async (context) => {
    if (!context.quick) await beside(context, onSqlite(context), "full", { step: limits.step });
  },
};

export const langgraphPostgres: Part = {
  name: "langgraph-postgres",
  title: "ThreadmarkSaver beside PostgresSaver, 1,000 LangChain messages",
  run: async (context) => {
    const client = clientOf(context);
    const systems = [postgresSaver(client), threadmarkSaver("Postgres", client)] as const;
    if (!context.quick) await beside(context, systems, "full", { step: 20, latest: 15 });
  },
};
