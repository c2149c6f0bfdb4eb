import { open } from "../../src/index.ts";
import { originalSqliteSaver } from "../environment/langgraph-savers.ts";
import { LeanPuts, putSteps } from "../floors/put.ts";
import { readLean, readSteps } from "../floors/read.ts";
import { LeanSteps, stepParts } from "../floors/step.ts";
import { LeanWaves, waveSteps } from "../floors/wave.ts";
import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { DeltaThread } from "../systems/delta-thread.ts";
import { RawPostgres } from "../systems/raw-postgres.ts";
import { RawTable } from "../systems/raw-sqlite.ts";
import { SaverThread } from "../systems/saver-thread.ts";
import { langchain } from "../workloads/langchain.ts";
import { overwrittenField } from "../workloads/overwritten.ts";
import { StoredTalk, Talk } from "../workloads/prepared-conversation.ts";
import { tiny } from "../workloads/tiny.ts";
import type { State, Step, Workload } from "../workloads/workload.ts";

type Rows = Cell[][];

async function puts({ place, quick }: Context, rows: Rows): Promise<void> {
  const table = new RawTable(place.path("raw"));
  for (const [index, step] of putSteps.entries()) {
    const lean = new LeanPuts(place.path("lean"), index + 1);
    const [talk, aside] = [new Talk(), new Talk()];
    const found = await compare(
      { rounds: quick ? 3 : 9, warmUp: quick ? 1 : 6, batch: 64, turns: 16 },
      () => lean.put(talk),
      () => table.insert(aside.ready.changed),
      (side) => (side === "ours" ? talk : aside).prepare(),
    );
    lean.close();
    rows.push(["put({ update }) against a raw insert, p50: at most 2.2", step, found.p50]);
  }
  table.close();
}

async function reads({ place, quick }: Context, rows: Rows): Promise<void> {
  const [path, rawPath] = [place.path("reads"), place.path("raw")];
  const writer = await open<State>(`sqlite:${path}`, { fsync: "normal" });
  const talk = await StoredTalk.begin(writer, "measured", 1_000);
  await writer.close();
  // Somebody else has the file open, on both sides.
  const store = await open<State>(`sqlite:${path}`, { fsync: "normal" });
  await store.thread("measured").count();
  const table = new RawTable(rawPath);
  const text = JSON.stringify(talk.state);
  const key = table.insert(text);
  for (const [index, step] of readSteps.entries()) {
    const found = await compare(
      { rounds: quick ? 5 : 15, warmUp: quick ? 1 : 300, batch: 2 },
      () => {
        if (readLean(path, index + 1) < text.length) throw new Error("Less was read than the state is long.");
      },
      () => {
        const other = new RawTable(rawPath);
        JSON.parse(other.select(key));
        other.close();
      },
    );
    rows.push(["latest() of a newly opened store against select + JSON.parse: at most 1.2", step, found.p50]);
  }
  table.close();
  await store.close();
}

const threads = 64;
const connections = 4;

async function waves({ place }: Context, rows: Rows): Promise<void> {
  const { url, schema } = await place.home("Postgres");
  const raw = await RawPostgres.create(url, `${schema}_raw`, connections);
  const lean = await LeanWaves.create(url, schema, threads);
  const talks = Array.from({ length: threads }, () => new Talk());
  for (const [index, step] of waveSteps.entries()) {
    const found = await compare(
      { rounds: 12, warmUp: 24, batch: 2, turns: 4 },
      () => lean.put(talks, index + 1),
      () => {
        const all = talks.map((talk) => talk.ready.changed);
        const parts = Array.from({ length: connections }, (_, part) => all.slice(part * 16, (part + 1) * 16));
        return Promise.all(parts.map((part) => raw.insertMany(part)));
      },
      () => {
        for (const talk of talks) talk.prepare();
      },
    );
    rows.push(["64 threads on Postgres against raw grouped inserts: at least 0.55", step, 1 / found.p50]);
  }
  await lean.close();
  await raw.close();
}

/** A history of its own for each side: what LangGraph makes of a step before it calls its saver is not timed. */
class Course {
  readonly #workload: Workload;
  #state: State;
  #taken = 0;
  next: Step;

  constructor(workload: Workload, state: State) {
    this.#workload = workload;
    this.#state = state;
    this.next = this.prepare();
  }

  prepare(): Step {
    this.#taken += 1;
    this.next = this.#workload.step(this.#state, this.#taken);
    this.#state = this.next.state;
    return this.next;
  }
}

interface Race {
  readonly title: string;
  readonly workload: Workload;
  readonly begin: State;
  readonly Peer: typeof SaverThread;
  /** The parts of a step that it cannot do without. */
  readonly parts: number;
}

const all = stepParts.length;
const talk = (): State => langchain.of(1_000);

const races = (): readonly Race[] => [
  {
    title: "a LangGraph step with DeltaChannel, N = 1,000, against SqliteSaver with DeltaChannel: at most 0.8",
    ...{ workload: langchain, begin: talk(), Peer: DeltaThread, parts: all - 1 },
  },
  {
    title: "a LangGraph step with plain channels, N = 1,000, against SqliteSaver with DeltaChannel: at most 1",
    ...{ workload: langchain, begin: talk(), Peer: DeltaThread, parts: all },
  },
  ...[tiny, overwrittenField].map((workload) => ({
    title: `a LangGraph step, ${workload.title}, against SqliteSaver: at most 1`,
    ...{ workload, begin: workload.initial(), Peer: SaverThread, parts: all - 1 },
  })),
];

async function steps({ place, quick }: Context, rows: Rows): Promise<void> {
  const original = await originalSqliteSaver(place.path("peer"), "normal");
  for (const { title, workload, begin, Peer, parts } of races()) {
    for (let part = 1; part <= parts; part += 1) {
      const lean = new LeanSteps(place.path("lean"), part);
      const peer = new Peer(original.saver, `${title} ${part}`);
      await peer.begin(begin);
      const [course, aside] = [new Course(workload, begin), new Course(workload, begin)];
      const found = await compare(
        { rounds: quick ? 3 : 9, warmUp: quick ? 1 : 6, batch: 48 },
        () => lean.step(course.next),
        () => peer.step(aside.next),
        (side) => (side === "ours" ? course.prepare() : peer.prepare(aside.prepare())),
      );
      lean.close();
      rows.push([title, stepParts[part - 1] as string, found.p50]);
    }
  }
  await original.close();
}

/** How far from the floor a target is that has not been met: the same by hand, with nothing but what it cannot do without. */
export const floors: Part = {
  name: "floors",
  title: "the least that a put, a first read, a LangGraph step and 64 threads cost by hand",
  async run(context) {
    const rows: Rows = [];
    await puts(context, rows);
    await reads(context, rows);
    await steps(context, rows);
    if (!context.quick) await waves(context, rows);
    context.report.table(
      "What is left of a target, by hand and without a store",
      [{ title: "target" }, { title: "what is done, each with what is above it" }, { title: "found", unit: "×" }],
      rows,
    );
  },
};
