import { DatabaseSync } from "node:sqlite";
import { open } from "../../../src/index.ts";
import { compare } from "../../harness/compare.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { median } from "../../harness/timing.ts";
import { bytesOf, foldLog } from "../../systems/sizes.ts";
import { StoredTalk, Talk } from "../../workloads/prepared-conversation.ts";
import type { State } from "../../workloads/workload.ts";

type Rows = Cell[][];

/** A fork of a long history against one of a short: time, and what it leaves behind. */
async function forks({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const steps = quick ? 2_000 : 10_000;
  const store = await open<State>(`sqlite:${place.path("forks")}`, { fsync: "normal" });
  const short = await StoredTalk.begin(store, "short", 10);
  const long = await StoredTalk.begin(store, "long", steps);
  const size = async (): Promise<number> => {
    const { bytes } = await store.measure();
    return bytes.directory + bytes.metadata + bytes.tail + bytes.packs + bytes.index + bytes.writes;
  };
  const found = await compare(
    { rounds: quick ? 8 : 20, warmUp: 3, batch: 8 },
    () => long.thread.fork(),
    () => short.thread.fork(),
  );
  const before = await size();
  for (let index = 0; index < 50; index += 1) await long.thread.fork();
  const bytes = ((await size()) - before) / 50;
  rows.push([`fork at N = ${steps}`, "fork at N = 10", found.ours.p50, found.other.p50, found.p50]);
  report.target(`fork at N = ${steps} against N = 10, p50`, found.p50, 1.5);
  report.target(`fork at N = ${steps}: bytes`, bytes, 500, { unit: "bytes" });
  const history = async (talk: StoredTalk): Promise<void> => {
    for await (const _ of talk.thread.history({ limit: 10 }));
  };
  const listed = await compare(
    { rounds: quick ? 8 : 20, batch: 8 },
    () => history(long),
    () => history(short),
  );
  rows.push([`history(10) at N = ${steps}`, "at N = 10", listed.ours.p50, listed.other.p50, listed.p50]);
  report.target(`history(10) at N = ${steps} against N = 10, p50`, listed.p50, 1.5);
  await store.close();
}

/** Deletes the rows and writes the first that remains as a whole state; the least a prune can do. */
function rawPrune(path: string, steps: number, keep: number): number {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = normal");
  database.exec("CREATE TABLE raw (key INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO raw VALUES (?, ?)");
  const talk = new Talk();
  let base = "";
  database.exec("BEGIN");
  for (let key = 1; key <= steps; key += 1) {
    talk.prepare();
    insert.run(key, talk.ready.changed);
    if (key === steps - keep + 1) base = JSON.stringify(talk.state);
  }
  database.exec("COMMIT");
  const remove = database.prepare("DELETE FROM raw WHERE key <= ?");
  const start = performance.now();
  const text = JSON.stringify(JSON.parse(base));
  database.exec("BEGIN");
  remove.run(steps - keep);
  insert.run(steps + 1, text);
  database.exec("COMMIT");
  const taken = performance.now() - start;
  database.close();
  return taken;
}

async function prunes({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const steps = quick ? 2_000 : 10_000;
  const keep = steps / 10;
  const path = place.path("prunes");
  const store = await open<State>(`sqlite:${path}`, { fsync: "normal" });
  const ours: number[] = [];
  const raw: number[] = [];
  const talks: StoredTalk[] = [];
  const rounds = quick ? 3 : 5;
  for (let round = 0; round <= rounds; round += 1) talks.push(await StoredTalk.begin(store, `t${round}`, steps));
  foldLog(path);
  const before = bytesOf(path);
  for (const [round, talk] of talks.entries()) {
    const floor = rawPrune(place.path("raw"), steps, keep);
    const start = performance.now();
    const { deleted } = await talk.thread.prune({ keepLast: keep });
    const taken = performance.now() - start;
    if (deleted !== steps + 1 - keep) throw new Error(`${deleted} checkpoints were pruned.`);
    await talk.check();
    // The first warms up.
    if (round === 0) continue;
    ours.push(taken);
    raw.push(floor);
  }
  await store.compact();
  foldLog(path);
  const after = bytesOf(path);
  await store.close();
  const ratio = median(ours.map((time, index) => time / (raw[index] as number)));
  rows.push([
    `prune 90 % of ${steps}`,
    "delete the rows, parse and stringify the base",
    median(ours),
    median(raw),
    ratio,
  ]);
  report.target(`prune 90 % of ${steps} against raw delete + parse and stringify of the base`, ratio, 3);
  report.target(`prune 90 % of ${steps}: the file after compact against before`, after / before, 0.999);
}

/** A put and a prune that keeps the last 20, on a long history against a short one. */
async function prunedSteps({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const length = quick ? 2_000 : 10_000;
  const store = await open<State>(`sqlite:${place.path("pruned")}`, { fsync: "normal" });
  const [short, long] = [await StoredTalk.begin(store, "short", 100), await StoredTalk.begin(store, "long", length)];
  const step = async (talk: StoredTalk): Promise<void> => {
    await talk.putUpdate();
    await talk.thread.prune({ keepLast: 20 });
  };
  const found = await compare(
    { rounds: quick ? 4 : 9, warmUp: 2, batch: 64 },
    () => step(long),
    () => step(short),
    (side) => (side === "ours" ? long : short).prepare(),
  );
  rows.push([`put and prune to 20, N = ${length}`, "the same, N = 100", found.ours.p50, found.other.p50, found.p50]);
  report.target(`put and prune({ keepLast: 20 }) at N = ${length} against N = 100, p50`, found.p50, 4);
  await store.close();
}

/** Measures listing, pruning, compacting and verifying long histories. */
export const upkeep: Part = {
  name: "upkeep",
  title: "fork and prune of long histories on SQLite",
  async run(context) {
    const rows: Rows = [];
    await forks(context, rows);
    await prunes(context, rows);
    await prunedSteps(context, rows);
    context.report.comparison("Forks and prunes on SQLite", "ms", rows);
  },
};
