import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { OpenOptions } from "../../src/index.ts";
import { PostgresServer } from "../../test/support/postgres/server.ts";
import { makeFolder, removeFolder } from "../../test/support/temporary-folder.ts";
import { CALLERS, type MeasuredRun, measureCosts, measureRun } from "./measure.ts";
import { type Costs, type Deployment, type Outcome, simulate } from "./model.ts";

/*
 * npm run simulate:scale                                     simulates, with the figures of measured.json
 * npm run simulate:scale -- --measure --threads 1000000      measures them anew, on SQLite and on Postgres
 * npm run simulate:scale -- --measure --on postgres          measures those of one of them
 */

const engines = ["sqlite", "postgres"] as const;
type Engine = (typeof engines)[number];

interface Measured {
  readonly on: string;
  readonly costs: Costs;
  readonly run: MeasuredRun;
}

const file = new URL("measured.json", import.meta.url);
/** The part of a store's cache of 64 MB that is for tapes. */
const CACHE = 16 * 2 ** 20;
const MILLION = 1_000_000;

/** Measures on a Postgres server of its own, which syncs every commit. */
async function measurePostgres(threads: number): Promise<Measured> {
  const server = await PostgresServer.start();
  try {
    const url = await server.url();
    const costs = await measureCosts(url, { databaseSchema: "costs" } as OpenOptions);
    const run = await measureRun(url, { databaseSchema: "run" } as OpenOptions, threads);
    return { on: "Postgres, fsync full", costs, run };
  } finally {
    await server.stop();
  }
}

async function measureSqlite(threads: number): Promise<Measured> {
  const folder = makeFolder();
  try {
    const options = { fsync: "normal" } as const;
    const costs = await measureCosts(`sqlite:${join(folder, "costs.db")}`, options);
    const path = join(folder, "run.db");
    const size = async (): Promise<number> => statSync(path).size;
    return { on: "SQLite, fsync normal", costs, run: await measureRun(`sqlite:${path}`, options, threads, size) };
  } finally {
    removeFolder(folder);
  }
}

/** The measured run's own deployment: one process, one server. */
function alone({ remembered }: Costs): Deployment {
  const threads = Math.floor(CACHE / remembered);
  return { processes: 1, callers: CALLERS, commitsAtOnce: 1, remembered: threads, servers: 1, shards: 1 };
}

function compare({ costs, run, on }: Measured): void {
  const deployment = alone(costs);
  console.log(`Costs, measured on ${on}, microseconds and bytes:`, costs);
  for (const [kind, measured] of [
    ["create", run.createSeconds],
    ["step", run.stepSeconds],
  ] as const) {
    const { seconds } = simulate(deployment, { operations: run.threads, kind, pick: (n) => n }, costs);
    const ratio = seconds / measured;
    const verdict = ratio > 0.5 && ratio < 2 ? "within 2 x" : "NOT within 2 x";
    console.log(
      `${run.threads} threads, ${kind}: measured ${measured.toFixed(0)} s, simulated ${seconds.toFixed(0)} s: ${ratio.toFixed(2)}, ${verdict}`,
    );
    if (verdict !== "within 2 x") process.exitCode = 1;
  }
  console.log(
    `Heap after it: ${(run.heap / 2 ** 20).toFixed(0)} MB; on disk ${run.bytesOfThread} + ${run.bytesOfStep} bytes a thread.`,
  );
}

/** Prints what servers of a kind sustain, with steps spread over 10^9 threads, and what 10^9 threads take. */
function billion({ costs, run }: Measured): void {
  const threads = 1e9;
  const disk = (threads * (run.bytesOfThread + run.bytesOfStep)) / 1e12;
  console.log(
    `\n10^9 threads of two checkpoints: ${disk.toFixed(1)} TB, before replicas and indexes for questions of your own.`,
  );
  console.log("servers  shards  active threads  steps/s  together  p50 ms  p99 ms  hits  skew  all 10^9 created in");
  for (const servers of [1, 4, 16, 64]) {
    for (const active of [1e4, threads]) {
      const deployment: Deployment = {
        processes: servers,
        callers: CALLERS,
        commitsAtOnce: 4,
        remembered: Math.floor(CACHE / costs.remembered),
        servers,
        shards: 64 * Math.ceil(servers / 16),
      };
      // Multiples of a large prime visit threads in an order that looks random and is the same in each run.
      const pick = (n: number): number => (n * 2_654_435_761) % active;
      const steps = simulate(deployment, { operations: MILLION / 2, kind: "step", pick }, costs);
      const created = simulate(deployment, { operations: MILLION / 2, kind: "create", pick: (n) => n }, costs);
      console.log(row(servers, deployment.shards, active, steps, threads / created.perSecond));
    }
  }
}

function row(servers: number, shards: number, active: number, steps: Outcome, creation: number): string {
  const cells = [
    String(servers).padStart(7),
    String(shards).padStart(6),
    active.toExponential(0).padStart(14),
    steps.perSecond.toFixed(0).padStart(7),
    steps.together.toFixed(0).padStart(8),
    steps.median.toFixed(1).padStart(6),
    steps.slowest1Percent.toFixed(1).padStart(6),
    steps.hits.toFixed(2).padStart(4),
    steps.skew.toFixed(2).padStart(4),
    `${(creation / 3600).toFixed(1)} h`,
  ];
  return cells.join("  ");
}

const { values } = parseArgs({
  options: { measure: { type: "boolean" }, threads: { type: "string" }, on: { type: "string" } },
});
const chosen = engines.filter((engine) => values.on === undefined || values.on === engine);
if (chosen.length === 0) throw new TypeError(`--on is one of ${engines.join(", ")}.`);
const found = JSON.parse(readFileSync(file, "utf8")) as Record<Engine, Measured>;
for (const engine of values.measure ? chosen : []) {
  const measure = engine === "postgres" ? measurePostgres : measureSqlite;
  found[engine] = await measure(Number(values.threads ?? MILLION));
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
}
for (const engine of chosen) {
  compare(found[engine]);
  billion(found[engine]);
  console.log("");
}
