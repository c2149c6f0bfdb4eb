import { open, type Store } from "../../../src/index.ts";
import { originalSqliteSaver } from "../../environment/langgraph-savers.ts";
import { type Compared, compare } from "../../harness/compare.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { RawTable } from "../../systems/raw-sqlite.ts";
import { SaverThread } from "../../systems/saver-thread.ts";
import { conversation, conversationOf } from "../../workloads/conversation.ts";
import { StoredTalk, Talk, warmStates, warmUpdates } from "../../workloads/prepared-conversation.ts";
import type { State } from "../../workloads/workload.ts";

type Rows = Cell[][];

function note(rows: Rows, ours: string, other: string, steps: number, found: Compared): void {
  rows.push([ours, other, steps, found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50, found.mean]);
}

async function updates(context: Context, rows: Rows): Promise<void> {
  const { place, report, quick } = context;
  const store = await open<State>(`sqlite:${place.path("puts")}`, { fsync: "normal" });
  await warmUpdates(store);
  const table = new RawTable(place.path("raw"));
  for (const steps of quick ? [1_000] : [1_000, 10_000]) {
    const talk = await StoredTalk.begin(store, `at-${steps}`, steps);
    const aside = new Talk();
    // A round is long enough that sealing, and SQLite's own checkpoints, fall into it on both sides.
    const found = await compare(
      { rounds: quick ? 5 : 15, warmUp: 2, batch: 64, turns: 16 },
      () => talk.putUpdate(),
      () => table.insert(aside.ready.changed),
      (side) => (side === "ours" ? talk : aside).prepare(),
    );
    await talk.check();
    note(rows, "put({ update })", "raw insert of the change", steps, found);
    report.target(`put({ update }), fsync normal, against one raw insert, N = ${steps}, p50`, found.p50, 2.2);
    report.target(`put({ update }), fsync normal, against one raw insert, N = ${steps}, mean`, found.mean, 3);
  }
  table.close();
  await flatness(context, store, rows);
  await store.close();
}

/** A put at the end of a long history against one at the end of a short one: another short one every round. */
async function flatness({ report, quick }: Context, store: Store<State>, rows: Rows): Promise<void> {
  const steps = quick ? 3_000 : 10_000;
  const rounds = quick ? 8 : 24;
  const batch = 64;
  const long = await StoredTalk.begin(store, "long", steps);
  const shorts: StoredTalk[] = [];
  for (let round = 0; round <= rounds; round += 1) shorts.push(await StoredTalk.begin(store, `short-${round}`, 100));
  let short = shorts[0] as StoredTalk;
  let calls = 0;
  const found = await compare(
    { rounds, warmUp: 1, batch },
    () => long.putUpdate(),
    () => short.putUpdate(),
    (side) => {
      if (side === "ours") return long.prepare();
      short = shorts[Math.floor(calls / batch)] as StoredTalk;
      calls += 1;
      short.prepare();
    },
  );
  await long.check();
  note(rows, "put({ update })", "the same at N = 100", steps, found);
  report.target(`put({ update }), N = ${steps} against N = 100, p50`, found.p50, 1.3);
}

/** Threads in turn, with memory for the states of a third of them against memory for all. */
async function crowded({ place, quick }: Context, rows: Rows): Promise<void> {
  const steps = 1_000;
  const threads = 16;
  const cacheBytes = { ours: 2 ** 23, other: 2 ** 26 };
  const stores: Store<State>[] = [];
  const talks = { ours: [] as StoredTalk[], other: [] as StoredTalk[] };
  for (const side of ["ours", "other"] as const) {
    const store = await open<State>(`sqlite:${place.path(side)}`, { fsync: "normal", cacheBytes: cacheBytes[side] });
    stores.push(store);
    for (let thread = 0; thread < threads; thread += 1) {
      talks[side].push(await StoredTalk.begin(store, `t${thread}`, steps));
    }
  }
  const turn = { ours: 0, other: 0 };
  const next = (side: "ours" | "other"): StoredTalk => talks[side][turn[side] % threads] as StoredTalk;
  const found = await compare(
    { rounds: quick ? 3 : 9, batch: threads, turns: 8 },
    () => next("ours").putUpdate(),
    () => next("other").putUpdate(),
    (side) => {
      turn[side] += 1;
      next(side).prepare();
    },
  );
  for (const talk of talks.ours) await talk.check();
  for (const store of stores) await store.close();
  note(
    rows,
    `put({ update }), ${threads} threads in turn, memory for a third`,
    "the same, memory for all",
    steps,
    found,
  );
}

async function synced({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const store = await open<State>(`sqlite:${place.path("synced")}`, { fsync: "full" });
  const table = new RawTable(place.path("raw"), "full");
  const talk = await StoredTalk.begin(store, "synced", 100);
  const aside = new Talk();
  const found = await compare(
    { rounds: quick ? 4 : 12, batch: 8, turns: 8 },
    () => talk.putUpdate(),
    () => table.insert(aside.ready.changed),
    (side) => (side === "ours" ? talk : aside).prepare(),
  );
  await talk.check();
  note(rows, "put({ update }), fsync full", "raw insert of the change, synced", 100, found);
  report.target("put({ update }), fsync full, against one raw insert, p50", found.p50, 1.2);
  await store.close();
  table.close();
}

/** `put({ state })` beside what a store of whole states has to do at least, and beside SqliteSaver's put. */
async function states({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const store = await open<State>(`sqlite:${place.path("states")}`, { fsync: "normal" });
  await warmUpdates(store);
  await warmStates(store);
  for (const steps of quick ? [1_000] : [1_000, 3_000]) {
    const talk = await StoredTalk.begin(store, `states-${steps}`, steps);
    const aside = new Talk(conversationOf(steps));
    const prepare = (side: "ours" | "other"): void => (side === "ours" ? talk : aside).prepare();
    const table = new RawTable(place.path("raw"));
    const floor = await compare(
      { rounds: quick ? 4 : 12, batch: 4, turns: 4 },
      () => talk.putState(),
      () => table.insert(JSON.stringify(aside.ready.state)),
      prepare,
    );
    table.close();
    note(rows, "put({ state })", "stringify + raw insert of the state", steps, floor);
    report.target(`put({ state }) against stringify + raw insert, N = ${steps}, p50`, floor.p50, 0.15);
    const { saver, close } = await originalSqliteSaver(place.path("saver"));
    const peer = new SaverThread(saver, "peer");
    await peer.begin(aside.state);
    const channels = Object.keys(conversation.initial());
    const beside = await compare(
      // Long turns: the first puts of one find the processor's caches full of the other's work.
      { rounds: quick ? 3 : 6, batch: 16 },
      () => talk.putState(),
      () => peer.put(aside.ready.state, channels),
      prepare,
    );
    await talk.check();
    note(rows, "put({ state })", "SqliteSaver.put", steps, beside);
    const name = `put({ state }), times faster than SqliteSaver.put, N = ${steps}`;
    report.target(name, 1 / beside.p50, steps > 1_000 ? 30 : 15, { least: true });
    await close();
  }
  await store.close();
}

/** Measures a put on SQLite beside the least work that the driver allows. */
export const puts: Part = {
  name: "puts",
  title: "a put on SQLite against raw inserts and SqliteSaver",
  async run(context) {
    const rows: Rows = [];
    await updates(context, rows);
    await crowded(context, rows);
    await synced(context, rows);
    await states(context, rows);
    context.report.table(
      "A put on SQLite, both sides in turns in one process",
      [
        { title: "ours" },
        { title: "against" },
        { title: "N", unit: "count" },
        { title: "ours p50", unit: "µs" },
        { title: "other p50", unit: "µs" },
        { title: "ratio of p50", unit: "×" },
        { title: "ratio of means", unit: "×" },
      ],
      rows,
      "ratios: the median over rounds of each round's ratio",
    );
  },
};
