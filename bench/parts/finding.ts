import { DatabaseSync } from "node:sqlite";
import { attributePrefix, statusPrefix } from "../../src/engine/records/store-wide/index-entries.ts";
import { open, type Store } from "../../src/index.ts";
import { END, graph, START } from "../../src/runtime/index.ts";
import { bytesByHand, LeanChanges, LeanPages } from "../floors/finding.ts";
import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { Timings } from "../harness/timing.ts";
import { type Asked, type IndexedRow, type IndexedRows, postgresRows, sqliteRows } from "../systems/indexed-rows.ts";
import type { Home } from "../systems/system.ts";

const began = 1_750_000_000_000;
const together = 500;

/** Returns the facts of thread number `number`: one of a hundred waits, and belongs to each of a hundred tenants. */
function factsOf(number: number): { readonly id: string; readonly waits: boolean; readonly tenant: string } {
  return { id: `thread-${number}`, waits: number % 100 === 7, tenant: `tenant-${number % 100}` };
}

function* rowsOf(count: number): Generator<IndexedRow> {
  for (let number = 0; number < count; number += 1) {
    const { id, waits, tenant } = factsOf(number);
    const status = waits ? "waiting" : "done";
    const value = { head: id, workflow: "agents", run: `run-${number}`, attributes: { tenant, cost: number % 50 } };
    yield { id, status, tenant, updated: began + 300 * (number + 1), value: JSON.stringify(value) };
  }
}

async function openAt(kind: "SQLite" | "Postgres", home: Home, clock: () => number): Promise<Store> {
  if (kind === "SQLite") return open(`sqlite:${home.path}`, { fsync: "normal", clock });
  return open(home.url, { schema: home.schema, clock });
}

/** Fills a store with threads of one checkpoint each. */
async function fill(kind: "SQLite" | "Postgres", home: Home, count: number): Promise<void> {
  let now = began;
  const store = await openAt(kind, home, () => now);
  for (let start = 0; start < count; start += together) {
    const puts: Promise<unknown>[] = [];
    for (let number = start; number < start + together; number += 1) {
      now += 300;
      const { id, waits, tenant } = factsOf(number);
      const asked = waits && { next: ["ask"], interrupts: [{ id: `q${number}`, node: "ask", value: "Sure?" }] };
      const attributes = { tenant, cost: number % 50 };
      const state = { number };
      const workflow = waits ? "asking" : "agents";
      puts.push(store.thread(id).put({ state, createdAt: now, workflow, run: `run-${number}`, attributes, ...asked }));
    }
    await Promise.all(puts);
  }
  await store.close();
}

const queries: Readonly<Record<Asked, object>> = {
  newest: {},
  waiting: { status: "waiting" },
  tenant: { where: { tenant: "tenant-5" } },
};

async function page(store: Store, asked: Asked): Promise<void> {
  let count = 0;
  for await (const _ of store.threads({ order: "updated", limit: 20, ...queries[asked] })) count += 1;
  if (count !== 20) throw new Error(`A page has ${count} threads.`);
}

/** Returns the bytes a thread that a SQLite file takes for entries, with their pages, and for the index in meta records. */
function bytesOfIndex(path: string, count: number): number {
  const database = new DatabaseSync(path);
  const one = (sql: string): number => (database.prepare(sql).get() as { readonly bytes: number }).bytes;
  const entries = one("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = 'entry'");
  const bare = "json_remove(substr(value, 11), '$.i')";
  const inMeta = one(`SELECT sum(length(value) - 10 - length(${bare})) AS bytes FROM meta`);
  database.close();
  return (entries + inMeta) / count;
}

/** Measures a `recover` that finds three unfinished runs, none of which can go on. */
async function recovery(store: Store, rounds: number): Promise<Timings> {
  const flow = graph<{ n: number }>("agents")
    .node("one", () => undefined)
    .node("two", () => undefined)
    .edge(START, "one")
    .edge("one", "two")
    .edge("two", END)
    .compile({ store });
  for (const thread of ["left-1", "left-2", "left-3"]) await flow.run({ n: 1 }, { thread, breakBefore: ["two"] });
  const times = new Timings();
  for (let round = -5; round < rounds; round += 1) {
    const recovered = await (round < 0 ? flow.recover() : times.measure(() => flow.recover()));
    if (recovered.length > 0) throw new Error("A run at a breakpoint was resumed.");
  }
  return times;
}

/** Compares a put that changes the status with one that leaves the index alone. */
async function changingPuts(store: Store, rounds: number): Promise<number> {
  const [changing, resting] = [store.thread("changing"), store.thread("resting")];
  await changing.put({ state: { n: 0 } });
  await resting.put({ state: { n: 0 } });
  let n = 0;
  const found = await compare(
    { rounds, batch: 20, turns: 8 },
    () => changing.put({ update: { set: { n: ++n } }, next: n % 2 === 0 ? [] : ["more"] }),
    () => resting.put({ update: { set: { n: ++n } } }),
  );
  return found.p50;
}

/** The texts under which a page's threads are, as the store has them. */
const statuses = ["w", "f", "c", "d", "p"] as const;
const texts: Readonly<Record<Asked, readonly string[]>> = {
  newest: statuses.map(statusPrefix),
  waiting: [statusPrefix("w")],
  tenant: statuses.map((status) => attributePrefix("tenant", "tenant-5", status)),
};

/** Compares by hand what the statements of a put that changes the status take with those of one that does not. */
async function changesByHand(file: string, synchronous: "full" | "normal", rounds: number): Promise<number> {
  const lean = new LeanChanges(file, synchronous);
  const found = await compare(
    { rounds, batch: 20, turns: 8 },
    () => lean.change(),
    () => lean.rest(),
  );
  lean.close();
  return found.p50;
}

/** Measures puts that change the status on SQLite: as stores are by default, and without syncing, where statements count. */
async function sqlitePuts({ place, report, quick }: Context, home: Home, count: number, rows: Cell[][]): Promise<void> {
  const rounds = quick ? 4 : 12;
  for (const fsync of ["full", "normal"] as const) {
    const store = await open(`sqlite:${home.path}`, { fsync });
    const ratio = await changingPuts(store, rounds);
    await store.close();
    const what = `a put that changes the status against one that does not, fsync: ${fsync}`;
    rows.push(["SQLite", count, what, null, null, ratio]);
    rows.push([
      "by hand",
      count,
      "the same statements, and nothing else",
      null,
      null,
      await changesByHand(place.path("lean"), fsync, rounds),
    ]);
    if (fsync === "full") report.target(`SQLite, ${count} threads: ${what}`, ratio, 1.6);
  }
}

interface Measured {
  readonly ours: Readonly<Record<Asked, number>>;
}

async function measure(
  context: Context,
  kind: "SQLite" | "Postgres",
  count: number,
  rows: Cell[][],
): Promise<Measured> {
  const { place, report, quick } = context;
  const home = await place.home(kind);
  await fill(kind, home, count);
  let now = began + 300 * count + 5_000;
  const store = await openAt(kind, home, () => now);
  const raw: IndexedRows =
    kind === "SQLite"
      ? sqliteRows(place.path("raw"), rowsOf(count))
      : await postgresRows(await place.client(), home.schema, rowsOf(count));
  // Both as they are once autovacuum has come by, which takes it a minute after so many rows.
  if (kind === "Postgres") await (await place.client()).query("vacuum analyze");
  const ours: Record<Asked, number> = { newest: 0, waiting: 0, tenant: 0 };
  for (const asked of ["newest", "waiting", "tenant"] as const) {
    const found = await compare(
      { rounds: quick ? 4 : 12, batch: 8, turns: 8 },
      () => page(store, asked),
      () => raw.page(asked),
    );
    ours[asked] = found.ours.p50;
    rows.push([kind, count, `${asked} 20`, found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50]);
    report.target(`${kind}, ${count} threads: ${asked} 20 against the raw indexed query`, found.p50, 10);
  }
  if (kind === "SQLite") {
    const lean = new LeanPages(home.path);
    for (const asked of ["newest", "waiting", "tenant"] as const) {
      const found = await compare(
        { rounds: quick ? 4 : 12, batch: 8, turns: 8 },
        () => lean.page(texts[asked]),
        () => raw.page(asked),
      );
      rows.push([
        "by hand",
        count,
        `${asked} 20, the store's records`,
        found.ours.p50 * 1_000,
        found.other.p50 * 1_000,
        found.p50,
      ]);
    }
    lean.close();
  }
  raw.close();
  if (kind === "SQLite") {
    const bytes = bytesOfIndex(home.path, count);
    const least = bytesByHand(place.path("by-hand"), rowsOf(count));
    rows.push([
      kind,
      count,
      `bytes of the index a thread: ${bytes.toFixed(0)}; by hand: ${least.toFixed(0)}`,
      null,
      null,
      null,
    ]);
    report.target(`${kind}, ${count} threads: bytes of the index a thread, with two attributes`, bytes, 200, {
      unit: "bytes",
    });
  }
  now += 1;
  if (kind === "SQLite") {
    const { p50 } = await recovery(store, quick ? 20 : 60);
    rows.push([kind, count, "recover(), 3 unfinished", p50 * 1_000, null, null]);
    report.target(`${kind}, ${count} threads: recover() with 3 unfinished`, p50, 5, { unit: "ms" });
  }
  if (kind === "Postgres") {
    const ratio = await changingPuts(store, quick ? 4 : 12);
    rows.push([kind, count, "put that changes the status, against one that does not", null, null, ratio]);
    report.target(`${kind}, ${count} threads: a put that changes the status against one that does not`, ratio, 1.6);
  }
  await store.close();
  if (kind === "SQLite") await sqlitePuts(context, home, count, rows);
  await place.clear(home);
  return { ours };
}

/** How long it takes to find threads among many, and what keeping the index costs. */
export const finding: Part = {
  name: "finding",
  title: "finding threads among many, by the index",
  async run(context) {
    const { report, quick } = context;
    const [few, many] = quick ? [4_000, 20_000] : [10_000, 100_000];
    const rows: Cell[][] = [];
    for (const kind of ["SQLite", "Postgres"] as const) {
      const small = await measure(context, kind, few, rows);
      const large = await measure(context, kind, many, rows);
      for (const asked of ["newest", "waiting", "tenant"] as const) {
        const growth = large.ours[asked] / small.ours[asked];
        report.target(`${kind}: ${asked} 20 of ${many} against ${few} threads`, growth, 1.5);
      }
    }
    report.table(
      "a page of 20 threads, against 20 rows of one table by an index that fits",
      [
        { title: "" },
        { title: "threads", unit: "count" },
        { title: "" },
        { title: "ours p50", unit: "µs" },
        { title: "raw p50", unit: "µs" },
        { title: "ratio", unit: "×" },
      ],
      rows,
    );
  },
};
