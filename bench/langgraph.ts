/**
 * ThreadmarkSaver beside LangGraph's own savers, in one run: a conversation of LangChain messages, one step = putWrites +
 * put. `node bench/langgraph.ts [--messages 1000] [--steps 128]`; part of `npm run bench`.
 */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type BaseCheckpointSaver, uuid6 } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { ThreadmarkSaver } from "../src/langgraph/index.ts";
import { PostgresServer } from "../test/postgres/server.ts";
import { originalPostgresSaver, originalSqliteSaver, whyWithoutSavers } from "./langgraph-savers.ts";
import { bytesOf, Place } from "./place.ts";
import { figure, newReport, type Report, target } from "./report.ts";
import { Timings } from "./timing.ts";
import { words } from "./workloads.ts";

interface Size {
  readonly messages: number;
  readonly steps: number;
}

/** One saver with a conversation in it, taken on step by step. Messages are objects, as a graph has them. */
class Conversation {
  readonly step = new Timings();
  readonly latest = new Timings();
  readonly list = new Timings();
  readonly #saver: BaseCheckpointSaver;
  readonly #text = words(7);
  readonly #messages: BaseMessage[] = [];
  #config: RunnableConfig = { configurable: { thread_id: "conversation", checkpoint_ns: "" } };
  #version = 0;

  constructor(saver: BaseCheckpointSaver) {
    this.#saver = saver;
  }

  #message(): BaseMessage {
    const index = this.#messages.length;
    const fields = { id: `message-${index}`, content: this.#text(440) };
    return index % 2 === 0 ? new HumanMessage(fields) : new AIMessage(fields);
  }

  async begin(messages: number): Promise<void> {
    while (this.#messages.length < messages - 1) this.#messages.push(this.#message());
    await this.#put();
    await this.advance();
  }

  /** A node gives a message, and the graph goes on. */
  async advance(timings?: Timings): Promise<void> {
    const message = this.#message();
    const start = performance.now();
    await this.#saver.putWrites(this.#config, [["messages", [message]]], `task-${this.#version}`);
    this.#messages.push(message);
    await this.#put();
    timings?.add(performance.now() - start);
  }

  async #put(): Promise<void> {
    this.#version += 1;
    const versions = { messages: this.#version, "branch:to:agent": this.#version };
    const checkpoint = {
      v: 4,
      id: uuid6(this.#version),
      ts: new Date().toISOString(),
      channel_values: { messages: [...this.#messages], "branch:to:agent": null },
      channel_versions: versions,
      versions_seen: { __input__: {}, agent: { "branch:to:agent": this.#version - 1 } },
    };
    const metadata = { source: "loop", step: this.#version, parents: {} } as const;
    this.#config = await this.#saver.put(this.#config, checkpoint, metadata, versions);
  }

  async read(): Promise<void> {
    const { configurable } = this.#config;
    const thread = { configurable: { thread_id: configurable?.["thread_id"] as string, checkpoint_ns: "" } };
    const tuple = await this.latest.measure(() => this.#saver.getTuple(thread));
    const read = tuple?.checkpoint.channel_values["messages"] as BaseMessage[];
    if (read.length !== this.#messages.length) throw new Error("The conversation was not read back whole.");
    await this.list.measure(async () => {
      let count = 0;
      for await (const _ of this.#saver.list(thread, { limit: 10 })) count += 1;
      if (count !== 10) throw new Error(`Ten checkpoints were asked for, ${count} came.`);
    });
  }
}

/** Steps before it is the other's turn: enough that a step finds the caches of the processor as its own last step left them. */
const turn = 8;

/** Both in turns, so that what else the machine does falls on both alike. */
async function compare(original: BaseCheckpointSaver, ours: BaseCheckpointSaver, size: Size): Promise<Conversation[]> {
  const conversations = [new Conversation(original), new Conversation(ours)];
  for (const conversation of conversations) await conversation.begin(size.messages);
  for (let begun = 0; begun < size.steps; begun += turn) {
    for (const conversation of conversations) {
      for (let step = begun; step < Math.min(begun + turn, size.steps); step++) {
        // The first steps warm up.
        await conversation.advance(step < 2 * turn ? undefined : conversation.step);
      }
    }
  }
  for (let read = 0; read < 7; read++) for (const conversation of conversations) await conversation.read();
  return conversations;
}

function note(report: Report, name: string, [original, ours]: readonly Conversation[]): void {
  if (original === undefined || ours === undefined) return;
  figure(report, `${name}: a step, LangGraph's saver`, original.step.p50, "ms");
  figure(report, `${name}: a step, ThreadmarkSaver`, ours.step.p50, "ms");
  figure(report, `${name}: getTuple, LangGraph's saver`, original.latest.p50, "ms");
  figure(report, `${name}: getTuple, ThreadmarkSaver`, ours.latest.p50, "ms");
  figure(report, `${name}: list of 10, LangGraph's saver`, original.list.p50, "ms");
  figure(report, `${name}: list of 10, ThreadmarkSaver`, ours.list.p50, "ms");
}

async function onSqlite(place: Place, report: Report, size: Size, fsync: "normal" | "full"): Promise<void> {
  console.log(`\nLangGraph on SQLite, ${size.messages} messages, fsync ${fsync}`);
  const files = { original: place.file("langgraph"), ours: place.file("threadmark") };
  const begun = { original: place.file("langgraph-begun"), ours: place.file("threadmark-begun") };
  const name = `sqlite ${fsync}`;
  for (const [paths, steps] of [
    [begun, 0],
    [files, size.steps],
  ] as const) {
    const original = await originalSqliteSaver(paths.original, fsync);
    const ours = await ThreadmarkSaver.open(`sqlite:${paths.ours}`, { fsync });
    if (steps > 0) {
      const [before, after] = await compare(original.saver, ours, { ...size, steps });
      note(report, name, [before as Conversation, after as Conversation]);
      const ratio = (part: "step" | "latest" | "list"): number =>
        (before as Conversation)[part].p50 / (after as Conversation)[part].p50;
      target(report, {
        name: `langgraph, ${name}: a step, times faster`,
        value: ratio("step"),
        limit: 18,
        least: true,
      });
      target(report, {
        name: `langgraph, ${name}: getTuple, times faster`,
        value: ratio("latest"),
        limit: 4,
        least: true,
      });
      target(report, {
        name: `langgraph, ${name}: list of 10, times faster`,
        value: ratio("list"),
        limit: 5,
        least: true,
      });
    } else {
      for (const saver of [original.saver, ours]) await new Conversation(saver).begin(size.messages);
    }
    await original.close();
    await ours.close();
  }
  const bytes = (of: "original" | "ours"): number => (bytesOf(files[of]) - bytesOf(begun[of])) / size.steps;
  figure(report, `${name}: bytes a step, LangGraph's saver`, bytes("original"));
  figure(report, `${name}: bytes a step, ThreadmarkSaver`, bytes("ours"));
  const fewer = bytes("original") / bytes("ours");
  target(report, { name: `langgraph, ${name}: bytes, times fewer`, value: fewer, limit: 200, least: true });
}

async function onPostgres(report: Report, size: Size): Promise<void> {
  console.log(`\nLangGraph on Postgres, ${size.messages} messages`);
  const server = process.env.THREADMARK_TEST_POSTGRES === undefined ? await PostgresServer.start() : undefined;
  const url = process.env.THREADMARK_TEST_POSTGRES ?? (server as PostgresServer).url();
  const schema = `bench_${randomBytes(6).toString("hex")}`;
  try {
    const original = await originalPostgresSaver(url, `${schema}_original`);
    const ours = await ThreadmarkSaver.open(url, { schema });
    const [before, after] = (await compare(original.saver, ours, size)) as [Conversation, Conversation];
    note(report, "postgres", [before, after]);
    const faster = { step: before.step.p50 / after.step.p50, latest: before.latest.p50 / after.latest.p50 };
    target(report, { name: "langgraph, postgres: a step, times faster", value: faster.step, limit: 20, least: true });
    target(report, {
      name: "langgraph, postgres: getTuple, times faster",
      value: faster.latest,
      limit: 15,
      least: true,
    });
    await original.close();
    await ours.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`drop schema if exists ${schema} cascade; drop schema if exists ${schema}_original cascade`);
    await client.end();
  } finally {
    await server?.stop();
  }
}

/** Measures what the issue promises of the saver. Without LangGraph's own savers there is nothing to measure beside. */
export async function measureLangGraph(place: Place, report: Report, size: Size): Promise<void> {
  const why = await whyWithoutSavers();
  if (why !== undefined) {
    console.log(`\nLangGraph: not measured. ${why}`);
    return;
  }
  await onSqlite(place, report, size, "normal");
  await onSqlite(place, report, size, "full");
  await onPostgres(report, { ...size, steps: Math.min(size.steps, 64) });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { messages: { type: "string", default: "1000" }, steps: { type: "string", default: "128" } },
  });
  const place = new Place();
  try {
    await measureLangGraph(place, newReport(), { messages: Number(values.messages), steps: Number(values.steps) });
  } finally {
    place.remove();
  }
}
