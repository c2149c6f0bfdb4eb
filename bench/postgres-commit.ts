/**
 * What a commit costs on Postgres, against raw prepared statements of the same driver on the same server, in one run:
 * one step at a time against one raw insert, and 64 threads at once against raw grouped inserts over the same number of
 * connections. Run it with `node bench/postgres-commit.ts [--rounds 5]`; `THREADMARK_TEST_POSTGRES` names another server.
 */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import pg from "pg";
import type { Backend, Batch } from "../src/backend.ts";
import { postgres } from "../src/backends/postgres/index.ts";
import { PostgresServer } from "../test/postgres/server.ts";

const rounds = Number(parseArgs({ options: { rounds: { type: "string", default: "5" } } }).values.rounds);
const connections = 4;
const threads = 64;
const grouped = 16;
const singles = 400;
const waves = 60;

const meta = `t1........${JSON.stringify({ tape: 1, epoch: 3, head: "0198f3c2-7a11-7c3e-9d55-2b7f6d1a9c01", step: 12 })}`;
const checked = meta + "x".repeat(80);

/** About the bytes of one message: what a step of a conversation adds. */
function change(): string {
  return `t1........${JSON.stringify({ id: randomBytes(12).toString("hex"), role: "user", content: "word ".repeat(160) })}`;
}

function step(tape: number, seq: number): Batch {
  return {
    checks: [{ key: { table: "meta", lineage: tape, group: tape, item: tape, part: 0 }, value: checked }],
    inserts: [{ key: { table: "tail", lineage: tape, group: tape, item: seq, part: 0 }, value: change() }],
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - start) / 1000;
}

/** Each in turn, so that what else the machine does falls on both alike. */
async function compare(
  times: number,
  raw: () => Promise<unknown>,
  ours: () => Promise<unknown>,
): Promise<readonly [raw: number, ours: number]> {
  const taken: [number[], number[]] = [[], []];
  for (let time = 0; time < times; time++) {
    taken[0].push(await timed(raw));
    taken[1].push(await timed(ours));
  }
  return [median(taken[0]), median(taken[1])];
}

const server = process.env.THREADMARK_TEST_POSTGRES === undefined ? await PostgresServer.start() : undefined;
const url = process.env.THREADMARK_TEST_POSTGRES ?? (server as PostgresServer).url();
const pool = new pg.Pool({ connectionString: url, max: connections });
// Connections that the pool is closing may see the server stop.
pool.on("error", () => {});
await pool.query(`drop schema if exists bench_commit cascade`);
await pool.query(`drop table if exists bench_raw`);
await pool.query(`create table bench_raw (thread int4, seq int8, body text, primary key (thread, seq))`);
await pool.query(`alter table bench_raw alter column body set storage external`);
const backend: Backend = await postgres({ url, schema: "bench_commit", connections });
await backend.commit(
  Array.from({ length: threads }, (_, index) => ({
    puts: [{ key: { table: "meta", lineage: index + 1, group: index + 1, item: index + 1, part: 0 }, value: checked }],
  })),
);

let sequence = 0;
const one = { name: "raw-one", text: "insert into bench_raw (thread, seq, body) values ($1, $2, $3)" };
const rows = Array.from({ length: grouped }, (_, row) => `($${3 * row + 1}, $${3 * row + 2}, $${3 * row + 3})`);
const many = { name: "raw-many", text: `insert into bench_raw (thread, seq, body) values ${rows.join(", ")}` };

async function rawWave(seq: number): Promise<void> {
  await Promise.all(
    Array.from({ length: threads / grouped }, (_, part) => {
      const values = Array.from({ length: grouped }, (__, row) => [part * grouped + row + 1, seq, change()]).flat();
      return pool.query({ ...many, values });
    }),
  );
}

async function ourWave(seq: number): Promise<void> {
  const applied = await backend.commit(Array.from({ length: threads }, (_, index) => step(index + 1, seq)));
  if (applied.includes(false)) throw new Error("a step was refused");
}

async function rawOne(): Promise<void> {
  await pool.query({ ...one, values: [1, ++sequence, change()] });
}

async function ourOne(): Promise<void> {
  const [applied] = await backend.commit([step(1, ++sequence)]);
  if (!applied) throw new Error("the step was refused");
}

const single: number[] = [];
const wave: number[] = [];
for (let round = 0; round <= rounds; round++) {
  const [rawStep, ourStep] = await compare(singles, rawOne, ourOne);
  const [rawGroup, ourGroup] = await compare(
    waves,
    () => rawWave(++sequence),
    () => ourWave(++sequence),
  );
  // The first round warms up: plans, pages, compiled code.
  if (round === 0) continue;
  single.push(ourStep / rawStep);
  wave.push(rawGroup / ourGroup);
  const perSecond = (microseconds: number): string => ((threads * 1e6) / microseconds).toFixed(0);
  console.log(
    `one: raw ${rawStep.toFixed(0)} µs, ours ${ourStep.toFixed(0)} µs, ${single.at(-1)?.toFixed(2)} ×; ` +
      `${threads} threads: raw ${perSecond(rawGroup)}/s, ours ${perSecond(ourGroup)}/s, ${wave.at(-1)?.toFixed(2)} ×`,
  );
}
console.log(`one step against one raw insert: ${median(single).toFixed(2)} × (at most 1.5)`);
console.log(`${threads} threads against raw grouped inserts: ${median(wave).toFixed(2)} × (at least 0.75)`);
await backend.close();
await pool.end();
await server?.stop();
process.exitCode = median(single) <= 1.5 && median(wave) >= 0.75 ? 0 : 1;
