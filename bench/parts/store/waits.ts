import { setTimeout as pause } from "node:timers/promises";
import { open, type Store } from "../../../src/index.ts";
import { runChild } from "../../environment/child.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { Timings } from "../../harness/timing.ts";
import { RawPostgres } from "../../systems/raw-postgres.ts";
import { RawTable } from "../../systems/raw-sqlite.ts";
import { words } from "../../workloads/words.ts";
import type { State } from "../../workloads/workload.ts";

interface Home {
  readonly name: string;
  readonly store: Store<State>;
  insert(text: string): unknown;
}

interface Course {
  readonly name: string;
  readonly count: number;
  /** Milliseconds between two puts. */
  readonly every: number;
  bytes(index: number): number;
}

const toolResult = (index: number): number => 10_000 + ((index * 7_919) % 90_000);

function coursesOf(quick: boolean): readonly Course[] {
  const part = quick ? 0.3 : 1;
  return [
    { name: "900 bytes, a put every 2 ms", count: 1_000 * part, every: 2, bytes: () => 850 },
    { name: "900 bytes, one after the other", count: 3_000 * part, every: 0, bytes: () => 850 },
    { name: "results of 10 to 100 KB, one after the other", count: 300, every: 0, bytes: toolResult },
    { name: "results of 10 to 100 KB, a put every 2 ms", count: 300, every: 2, bytes: toolResult },
  ];
}

interface Taken {
  readonly ours: Timings;
  readonly raw: Timings;
  /** Times that were left out. */
  readonly disturbed: number;
}

/** Puts and raw inserts of the same bytes, in turns; the first fifth does not count. */
async function take({ name, store, insert }: Home, course: Course): Promise<Taken> {
  const thread = store.thread(`${name} ${course.name}`);
  await thread.put({ state: { messages: [], turn: 0 } });
  let [ours, raw, disturbed] = [new Timings(), new Timings(), 0];
  for (let index = 0; index < course.count; index += 1) {
    if (index === Math.floor(course.count / 5)) [ours, raw, disturbed] = [new Timings(), new Timings(), 0];
    const messages = [{ id: `m${index}`, content: words(index)(course.bytes(index)) }];
    const update = { append: { messages }, set: { turn: index } };
    const text = JSON.stringify(update);
    if (course.every > 0) await pause(course.every);
    if (!(await raw.measureUndisturbed(() => insert(text)))) disturbed += 1;
    if (course.every > 0) await pause(course.every);
    if (!(await ours.measureUndisturbed(() => thread.put({ update, node: "act" })))) disturbed += 1;
  }
  return { ours, raw, disturbed };
}

async function homes({ place, quick }: Context): Promise<{ all: Home[]; close(): Promise<void> }> {
  const sqlite = await open<State>(`sqlite:${place.path("waits")}`, { fsync: "normal" });
  const table = new RawTable(place.path("raw"));
  const all: Home[] = [{ name: "SQLite", store: sqlite, insert: (text) => table.insert(text) }];
  const close = async (): Promise<void> => {
    await sqlite.close();
    table.close();
  };
  if (quick) return { all, close };
  const { url, schema } = await place.home("Postgres");
  const postgres = await open<State>(url, { schema });
  const raw = await RawPostgres.create(url, schema, 1);
  all.push({ name: "Postgres", store: postgres, insert: (text) => raw.insert(text) });
  return {
    all,
    close: async () => {
      await close();
      await postgres.close();
      await raw.close();
    },
  };
}

/** Of the first hundred puts of a new process: the first, the median, and the slowest of the others. */
export interface ColdPuts {
  readonly first: number;
  readonly median: number;
  readonly worst: number;
  readonly raw: number;
}

async function cold({ place, report, quick }: Context): Promise<void> {
  const found: ColdPuts[] = [];
  const path = place.path("cold");
  for (let run = 0; run < (quick ? 2 : 5); run += 1) {
    found.push(await runChild<ColdPuts>("cold-puts.ts", { path, raw: place.path("raw") }));
  }
  const middle = found.toSorted((one, other) => one.median - other.median)[found.length >> 1] as ColdPuts;
  report.table(
    "The first 100 puts of a new process, SQLite, fsync normal",
    [
      { title: "the first", unit: "µs" },
      { title: "p50", unit: "µs" },
      { title: "the slowest of the others", unit: "µs" },
      { title: "raw insert p50", unit: "µs" },
      { title: "p50 against a raw insert", unit: "×" },
    ],
    [
      [
        middle.first * 1_000,
        middle.median * 1_000,
        middle.worst * 1_000,
        middle.raw * 1_000,
        middle.median / middle.raw,
      ],
    ],
    "nothing is compiled yet: both p50 fall as the process goes on",
  );
}

/** The puts that somebody waits for longest. */
export const waits: Part = {
  name: "waits",
  title: "the slowest puts: paced, one after the other, large, in new processes",
  async run(context) {
    const { report, quick } = context;
    const { all, close } = await homes(context);
    const rows: Cell[][] = [];
    for (const home of all) {
      await take(home, { name: "warm-up", count: 400, every: 0, bytes: () => 900 });
      for (const course of coursesOf(quick)) {
        const { ours, raw, disturbed } = await take(home, course);
        const times = [ours.p50, ours.p99, ours.worst, raw.p50, raw.p99, raw.worst].map((time) => time * 1_000);
        rows.push([home.name, course.name, ...times, disturbed]);
        const name = `${home.name}, ${course.name}`;
        if (course.bytes === toolResult)
          report.target(`${name}: the worst put against the worst raw insert`, ours.worst / raw.worst, 5);
        else if (course.every > 0) report.target(`${name}: p99 against p50`, ours.p99 / ours.p50, 3);
        else report.target(`${name}: p99 against the raw insert's`, ours.p99 / raw.p99, 10);
      }
    }
    await close();
    report.table(
      "Puts and raw inserts of the same bytes, in turns",
      [
        { title: "home" },
        { title: "course" },
        ...["p50", "p99", "worst", "raw p50", "raw p99", "raw worst"].map((title) => ({ title, unit: "µs" as const })),
        { title: "left out", unit: "count" },
      ],
      rows,
      "left out, on both sides: times in which the system gave the processor to another process",
    );
    await cold(context);
  },
};
