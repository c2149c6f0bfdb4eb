import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../src/backends/sqlite/index.ts";

/**
 * What the SQLite backend adds to a raw prepared insert of the same value, and how eight processes share one file:
 * `node bench/sqlite-commit.ts [seconds of each contest]`.
 */
const seconds = Number(process.argv[2] ?? 5);
const directory = mkdtempSync(join(tmpdir(), "threadmark-bench-"));
const value = `t1........${"x".repeat(900)}`;
const meta = `t1........${"m".repeat(150)}`;
const processes = 8;
const contests = 3;

interface Timing {
  readonly p50: number;
  readonly mean: number;
}

function summarise(times: number[]): Timing {
  times.sort((a, b) => a - b);
  return {
    p50: (times[times.length >> 1] ?? 0) * 1000,
    mean: (times.reduce((sum, time) => sum + time, 0) * 1000) / times.length,
  };
}

/** Both in turns of a hundred, so that they meet the same machine. */
async function compareCommits(fsync: "full" | "normal", rounds: number): Promise<readonly [Timing, Timing]> {
  const raw = new DatabaseSync(join(directory, `raw-${fsync}.db`));
  raw.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${fsync}`);
  raw.exec("CREATE TABLE tail (key INTEGER PRIMARY KEY, value BLOB NOT NULL)");
  const insert = raw.prepare("INSERT INTO tail VALUES (?, ?)");
  const backend = await sqlite(join(directory, `backend-${fsync}.db`), { fsync });
  const key = { table: "meta", lineage: 1, group: 1, item: 1, part: 0 } as const;
  await backend.commit([{ puts: [{ key, value: meta }] }]);
  const rawTimes: number[] = [];
  const backendTimes: number[] = [];
  let item = 0;
  for (let round = 0; round < rounds; round++) {
    const rawRound: number[] = [];
    const backendRound: number[] = [];
    for (let count = 1; count <= 100; count++) {
      const start = performance.now();
      insert.run(2 ** 32 + item + count, value);
      rawRound.push(performance.now() - start);
    }
    for (let count = 1; count <= 100; count++) {
      const record = { ...key, table: "tail", item: item + count } as const;
      const start = performance.now();
      await backend.commit([{ checks: [{ key, value: meta }], inserts: [{ key: record, value }] }]);
      backendRound.push(performance.now() - start);
    }
    item += 100;
    if (round < 3) continue;
    rawTimes.push(...rawRound);
    backendTimes.push(...backendRound);
  }
  raw.close();
  await backend.close();
  return [summarise(rawTimes), summarise(backendTimes)];
}

interface Share {
  readonly commits: number;
  readonly longest: number;
}

async function contest(mode: "turns" | "busy handler"): Promise<readonly Share[]> {
  const path = join(directory, `${mode.replace(" ", "-")}-${Math.random()}.db`);
  const writer = join(import.meta.dirname, "sqlite-writer.ts");
  const writers = Array.from({ length: processes }, (_, index) => {
    const child = spawn(process.execPath, [writer, path, String(index + 1), String(seconds), mode], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  const line = async (lines: AsyncIterator<string>): Promise<string> => {
    const { value: text, done } = await lines.next();
    if (done) throw new Error("a writer ended early");
    return text;
  };
  await Promise.all(writers.map(({ lines }) => line(lines)));
  for (const { child } of writers) child.stdin.write("go\n");
  return Promise.all(writers.map(async ({ lines }) => JSON.parse(await line(lines)) as Share));
}

interface Outcome {
  readonly rate: number;
  readonly fairness: number;
  readonly longest: number;
}

function outcomeOf(shares: readonly Share[]): Outcome {
  const commits = shares.map((share) => share.commits);
  return {
    rate: commits.reduce((sum, count) => sum + count, 0) / seconds,
    fairness: Math.min(...commits) / Math.max(...commits),
    longest: Math.max(...shares.map((share) => share.longest)),
  };
}

function report(mode: string, outcomes: readonly Outcome[]): number {
  const rate = outcomes.reduce((sum, outcome) => sum + outcome.rate, 0) / outcomes.length;
  const fairness = outcomes.map((outcome) => outcome.fairness.toFixed(2)).join(", ");
  const longest = Math.max(...outcomes.map((outcome) => outcome.longest));
  console.log(
    `${mode}: ${rate.toFixed(0)} commits/s, slowest/fastest ${fairness}, longest wait ${longest.toFixed(0)} ms`,
  );
  return rate;
}

try {
  for (const [fsync, rounds] of [
    ["normal", 200],
    ["full", 30],
  ] as const) {
    const [raw, backend] = await compareCommits(fsync, rounds);
    console.log(
      `fsync ${fsync}: raw insert p50 ${raw.p50.toFixed(1)} µs mean ${raw.mean.toFixed(1)} µs; ` +
        `commit p50 ${backend.p50.toFixed(1)} µs (${(backend.p50 / raw.p50).toFixed(2)} ×) ` +
        `mean ${backend.mean.toFixed(1)} µs (${(backend.mean / raw.mean).toFixed(2)} ×)`,
    );
  }
  console.log(`${processes} processes, one file, fsync full:`);
  const handled: Outcome[] = [];
  const taken: Outcome[] = [];
  // By turns, so that both meet the same disk.
  for (let round = 0; round < contests; round++) {
    handled.push(outcomeOf(await contest("busy handler")));
    taken.push(outcomeOf(await contest("turns")));
  }
  const ratio = report("turns", taken) / report("SQLite's busy handler", handled);
  console.log(`throughput of turns against the busy handler: ${ratio.toFixed(2)} ×`);
} finally {
  rmSync(directory, { recursive: true });
}
