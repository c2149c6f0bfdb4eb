import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { PostgresServer } from "../../../support/postgres/server.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { Load } from "../support/load.ts";
import { creation, metaOf, step } from "../support/records.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

test("a server killed and restarted under load loses nothing that was acknowledged", async () => {
  const pool = new CountingPool({ connectionString: server.url(), max: 6 });
  const backend = await postgres({ pool, patience: 30_000 });
  const load = new Load(backend, 12);
  const running = load.run();
  for (let round = 0; round < 4; round++) {
    await load.progress(100);
    server.kill();
    // The load meets a dead server, then one that recovers.
    await sleep(50);
    await server.restart();
  }
  await load.progress(100);
  load.stop();
  await running;
  await load.check(backend);
  expect(pool.out).toBe(0);
  expect(pool.pool.waitingCount).toBe(0);
  await backend.close();
  await pool.end();
});

test("what a server that stays away may have applied is unknown, what never reached it is not committed", async () => {
  const backend = await postgres({ url: server.url(), schema: "away", patience: 300 });
  expect(await backend.commit([creation(1)])).toEqual([true]);
  const client = new pg.Client({ connectionString: server.url() });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin; select from away.meta for update");
  const waiting = expect(backend.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({
    code: "BACKEND",
    committed: "unknown",
  });
  await sleep(100);
  server.kill();
  await waiting;
  await expect(backend.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({
    code: "BACKEND",
    committed: false,
  });
  await expect(backend.read([{ get: metaOf(1) }])).rejects.toMatchObject({ code: "BACKEND" });
  await server.restart();
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  await backend.close();
});

test("a server that is not there is named when opening", async () => {
  await expect(postgres({ url: "postgres://user:secret@127.0.0.1:1/nowhere", patience: 100 })).rejects.toMatchObject({
    code: "BACKEND",
    message: expect.stringMatching(/^postgres:\/\/127\.0\.0\.1:1\/nowhere: .*ECONNREFUSED/),
  });
});

test("opening waits for a server that is about to start, through a url and through a pool", async () => {
  server.kill();
  const pool = new pg.Pool({ connectionString: server.url() });
  const opening = [{ url: server.url() }, { pool }].map((options) =>
    postgres({ ...options, schema: "starting", patience: 60_000 }),
  );
  await expect(postgres({ url: server.url(), patience: 50 })).rejects.toMatchObject({ code: "BACKEND" });
  await server.restart();
  const backends = await Promise.all(opening);
  for (const [index, backend] of backends.entries())
    expect(await backend.commit([creation(index + 1)])).toEqual([true]);
  for (const backend of backends) await backend.close();
  await pool.end();
});

/** Longer than any test may take: where waiting is of no use, there must be none. */
const endless = 3_600_000;

test("a fault that waiting does not mend is told at once when opening", async () => {
  const withoutPassword = new URL(server.url());
  withoutPassword.password = "";
  await expect(postgres({ url: withoutPassword.href, patience: endless })).rejects.toThrow(/password/);
  await expect(postgres({ url: `${server.url()}?sslmode=require`, patience: endless })).rejects.toThrow(/SSL/);
  const pool = new pg.Pool({ connectionString: server.url() });
  await pool.end();
  await expect(postgres({ pool, patience: endless })).rejects.toThrow(/calling end/);
});
