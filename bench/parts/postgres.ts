import { open, type Store } from "../../src/index.ts";
import { originalPostgresSaver } from "../environment/langgraph-savers.ts";
import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { RawPostgres } from "../systems/raw-postgres.ts";
import { SaverThread } from "../systems/saver-thread.ts";
import { conversation, conversationOf } from "../workloads/conversation.ts";
import { StoredTalk, Talk } from "../workloads/prepared-conversation.ts";
import type { State } from "../workloads/workload.ts";

const connections = 4;
const threads = 64;
const grouped = 16;

type Rows = Cell[][];

async function single({ report, quick }: Context, rows: Rows, store: Store<State>, raw: RawPostgres): Promise<void> {
  const talk = await StoredTalk.begin(store, "one", 200);
  const aside = new Talk();
  const found = await compare(
    { rounds: quick ? 4 : 12, batch: 8, turns: 8 },
    () => talk.putUpdate(),
    () => raw.insert(aside.ready.changed),
    (side) => (side === "ours" ? talk : aside).prepare(),
  );
  await talk.check();
  rows.push(["put({ update })", "one raw insert", found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50]);
  report.target("Postgres: put({ update }) against one raw insert, p50", found.p50, 1.5);
}

/** 64 threads at once, each with a step of its own, against the same changes in four statements of sixteen rows. */
async function many({ report, quick }: Context, rows: Rows, store: Store<State>, raw: RawPostgres): Promise<void> {
  const talks: StoredTalk[] = [];
  for (let index = 0; index < threads; index += 1) talks.push(await StoredTalk.begin(store, `t${index}`, 1));
  const asides = talks.map(() => new Talk());
  const found = await compare(
    { rounds: quick ? 4 : 12, warmUp: quick ? 4 : 24, batch: 2, turns: 4 },
    () => Promise.all(talks.map((talk) => talk.putUpdate())),
    () => {
      const changes = asides.map((talk) => talk.ready.changed);
      return Promise.all(
        Array.from({ length: threads / grouped }, (_, part) =>
          raw.insertMany(changes.slice(part * grouped, (part + 1) * grouped)),
        ),
      );
    },
    (side) => {
      for (const talk of side === "ours" ? talks : asides) talk.prepare();
    },
  );
  for (const talk of talks.slice(0, 4)) await talk.check();
  rows.push([
    `${threads} threads at once`,
    `raw inserts of ${grouped} rows, ${connections} connections`,
    found.ours.p50 * 1_000,
    found.other.p50 * 1_000,
    found.p50,
  ]);
  report.target("Postgres: commits a second of 64 threads against raw grouped inserts", 1 / found.p50, 0.55, {
    least: true,
  });
}

async function besideSaver(context: Context, rows: Rows, store: Store<State>): Promise<void> {
  const { place, report, quick } = context;
  const home = await place.home("Postgres");
  const { saver, close } = await originalPostgresSaver(home.url, home.schema);
  const steps = 1_000;
  const talk = await StoredTalk.begin(store, "beside", steps);
  const aside = new Talk(conversationOf(steps));
  const peer = new SaverThread(saver, "peer");
  await peer.begin(aside.state);
  const channels = Object.keys(conversation.initial());
  const found = await compare(
    // Long turns: the first puts of one find the processor's caches full of the other's work.
    { rounds: quick ? 3 : 6, batch: 16 },
    () => talk.putUpdate(),
    () => peer.put(aside.ready.state, channels),
    (side) => (side === "ours" ? talk : aside).prepare(),
  );
  await close();
  rows.push([
    "put({ update }), N = 1,000",
    "PostgresSaver.put",
    found.ours.p50 * 1_000,
    found.other.p50 * 1_000,
    found.p50,
  ]);
  report.target("Postgres: put({ update }), times faster than PostgresSaver.put, N = 1,000", 1 / found.p50, 30, {
    least: true,
  });
}

/** 64 threads at once in a store with shards, against a store without. On one server shards only cost: statements hold fewer threads. */
async function sharded({ place, quick }: Context, rows: Rows, store: Store<State>): Promise<void> {
  const home = await place.home("Postgres");
  for (const shards of quick ? [8] : [1, 8, 64]) {
    const other = await open<State>(home.url, { schema: `${home.schema}_in_${shards}`, shards, connections });
    const begin = (of: Store<State>): Promise<StoredTalk[]> =>
      Promise.all(
        Array.from({ length: threads }, (_, index) => StoredTalk.begin(of, `with ${shards} shards ${index}`, 1)),
      );
    const [ours, theirs] = [await begin(other), await begin(store)];
    const found = await compare(
      { rounds: quick ? 4 : 12, warmUp: quick ? 4 : 24, batch: 2, turns: 4 },
      () => Promise.all(ours.map((talk) => talk.putUpdate())),
      () => Promise.all(theirs.map((talk) => talk.putUpdate())),
      (side) => {
        for (const talk of side === "ours" ? ours : theirs) talk.prepare();
      },
    );
    for (const talk of ours.slice(0, 4)) await talk.check();
    const name = `${threads} threads at once, shards: ${shards}`;
    rows.push([name, "the same without shards", found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50]);
    await other.close();
  }
}

/** Measures a put on Postgres beside raw statements of the same driver over as many connections. */
export const postgres: Part = {
  name: "postgres",
  title: "a put on Postgres, and 64 threads at once, against raw inserts and PostgresSaver",
  async run(context) {
    const { place, report } = context;
    const home = await place.home("Postgres");
    const store = await open<State>(home.url, { schema: home.schema, connections });
    const raw = await RawPostgres.create(home.url, `${home.schema}_raw`, connections);
    const rows: Rows = [];
    await single(context, rows, store, raw);
    await many(context, rows, store, raw);
    await besideSaver(context, rows, store);
    await sharded(context, rows, store);
    await raw.close();
    await store.close();
    report.comparison("Postgres, its durability as installed, both sides in turns in one process", "µs", rows);
  },
};
