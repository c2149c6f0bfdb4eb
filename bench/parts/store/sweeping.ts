import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { open, type Store } from "../../../src/index.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { Timings } from "../../harness/timing.ts";
import { bytesOf } from "../../systems/sizes.ts";
import { words } from "../../workloads/words.ts";

const day = 24 * 60 * 60 * 1000;
/** Threads that are written together, so that filling the store takes no minute. */
const TOGETHER = 500;
/** Puts before and after the sweep. */
const CALM = 1_500;
/** Milliseconds between two puts: a program that does nothing else but put would wait for itself. */
const PAUSE = 2;

const text = words(1);

interface State {
  readonly messages: readonly string[];
}

async function fill(store: Store<State>, name: string, count: number): Promise<void> {
  for (let start = 0; start < count; start += TOGETHER) {
    const ids = Array.from({ length: Math.min(TOGETHER, count - start) }, (_, index) => `${name}${start + index}`);
    await Promise.all(ids.map((id) => store.thread(id).put({ state: { messages: [text(400)] }, workflow: "chat" })));
  }
}

/** Puts again and again, until told to stop, and returns the times. */
async function puts(store: Store<State>, goesOn: (count: number) => boolean): Promise<Timings> {
  const timings = new Timings();
  const thread = store.thread("live");
  while (goesOn(timings.count)) {
    await timings.measure(() => thread.put({ update: { append: { messages: [text(400)] } } }));
    await wait(PAUSE);
  }
  return timings;
}

async function sweepBesidePuts({ place, report, quick }: Context): Promise<Cell[][]> {
  const count = quick ? 5_000 : 100_000;
  const path = place.path("sweeping");
  let now = Date.now() - 60 * day;
  const filling = await open<State>(`sqlite:${path}`, { fsync: "normal", clock: () => now });
  await fill(filling, "old", count);
  now = Date.now();
  await fill(filling, "young", count / 5);
  await filling.thread("live").put({ state: { messages: [] } });
  await filling.close();
  const before = bytesOf(path);
  const store = await open<State>(`sqlite:${path}`, { retention: { threads: { idle: "30d" } } });
  // The first puts warm up.
  await puts(store, (done) => done < 200);
  const calm = await puts(store, (done) => done < CALM);
  let isSwept = false;
  const begun = performance.now();
  const sweep = store.sweep().finally(() => {
    isSwept = true;
  });
  const beside = await puts(store, () => !isSwept);
  const { threads } = await sweep;
  const taken = performance.now() - begun;
  if (threads !== count) throw new Error(`${threads} threads were swept.`);
  calm.addAll(await puts(store, (done) => done < CALM));
  await store.close();
  const live = liveBytes(path, place.path("live"));
  report.target(`put p99 while ${count} threads are swept against without`, beside.p99 / calm.p99, 1.5);
  report.target(`the file after a sweep of ${count} threads against its live bytes`, bytesOf(path) / live, 1.3);
  return [
    ["put p50, in ms", beside.p50, calm.p50, beside.p50 / calm.p50],
    ["put p99, in ms", beside.p99, calm.p99, beside.p99 / calm.p99],
    ["file, in MB", bytesOf(path) / 1e6, live / 1e6, bytesOf(path) / live],
    ["file before the sweep, in MB", before / 1e6, null, null],
    [`sweep of ${count} threads, in s`, taken / 1000, null, null],
  ];
}

/** Returns the bytes of a copy of a database without free room. */
function liveBytes(path: string, copy: string): number {
  const database = new DatabaseSync(path);
  database.prepare("VACUUM INTO ?").run(copy);
  database.close();
  return statSync(copy).size;
}

/** Puts beside a sweep of many threads, in one process. */
export const sweeping: Part = {
  name: "sweeping",
  title: "puts while old threads are swept, on SQLite",
  async run(context) {
    context.report.table(
      "a put every two milliseconds, by the process that sweeps",
      [{ title: "" }, { title: "while sweeping" }, { title: "without" }, { title: "ratio", unit: "×" }],
      await sweepBesidePuts(context),
    );
  },
};
