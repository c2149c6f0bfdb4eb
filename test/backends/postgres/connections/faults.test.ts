import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend } from "../../../../src/backend.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { Load } from "../support/load.ts";
import { at, creation, metaOf, sealing, step } from "../support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

function withSetting(name: string, value: string): string {
  const url = new URL(database.url);
  url.searchParams.set("options", `-c ${name}=${value.replaceAll(" ", "\\ ")}`);
  return url.href;
}

/** Holds a lock on the meta record of a tape while `work` runs. */
async function holding(schema: string, tape: number, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("begin");
  await client.query(`select from ${schema}.meta where lineage = ${tape} for update`);
  try {
    await work();
  } finally {
    await client.query("rollback");
    await client.end();
  }
}

test("connections cut at random under load lose nothing and leak nothing", async () => {
  const pool = new CountingPool({ connectionString: database.url, max: 6, application_name: "cut" });
  const backend = await postgres({ pool, schema: "cut" });
  const load = new Load(backend, 12);
  const running = load.run();
  for (let round = 0; round < 40; round++) {
    await load.progress(10);
    await database.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity where application_name = 'cut' order by random() limit 2
       ) chosen`,
    );
  }
  load.stop();
  await running;
  await load.check(backend);
  expect(pool.out).toBe(0);
  await backend.close();
  await pool.end();
  await gone("cut");
});

test("an idle connection that is cut harms nobody, in a pool of ours or of the application", async () => {
  const url = `${database.url}?application_name=idle`;
  const pool = new pg.Pool({ connectionString: url });
  for (const options of [{ url }, { pool }]) {
    const backend = await postgres({ ...options, schema: "idle" });
    await backend.commit([{ puts: [{ key: metaOf(1), value: recordText("meta") }] }]);
    await database.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'idle'");
    await gone("idle");
    await sleep(50);
    expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
    await backend.close();
  }
  await pool.end();
  await gone("idle");
});

test("a statement that takes longer than statement_timeout is not committed, and says so", async () => {
  const backend = await postgres({ url: withSetting("statement_timeout", "200"), schema: "timeout" });
  await backend.commit([creation(1)]);
  for (const batch of [step(1, 1, recordText(1)), sealing(1, 1, recordText("meta"), recordText("sealed"))]) {
    await holding("timeout", 1, async () => {
      await expect(backend.commit([batch])).rejects.toMatchObject({
        code: "BACKEND",
        committed: false,
        message: expect.stringContaining("statement_timeout"),
      });
    });
  }
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  await backend.close();
});

test("a lock that cannot be had within lock_timeout is BUSY", async () => {
  const backend = await postgres({ url: withSetting("lock_timeout", "100"), schema: "busy" });
  await backend.commit([creation(1)]);
  await holding("busy", 1, async () => {
    await expect(backend.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({ code: "BUSY", committed: false });
  });
  await backend.close();
});

test("a pool that has no connection left is waited for, but not for ever", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const backend = await postgres({ pool, schema: "exhausted", patience: 150 });
  await backend.commit([creation(1)]);
  const client = await pool.connect();
  await expect(backend.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({
    code: "BACKEND",
    committed: false,
  });
  await expect(backend.read([{ get: metaOf(1) }])).rejects.toMatchObject({ code: "BACKEND" });
  client.release();
  // The two that gave up get their connection late and hand it on.
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  expect(pool.waitingCount).toBe(0);
  expect(pool.idleCount).toBe(1);
  await backend.close();
  await pool.end();
});

test("a server that takes no writes is READ_ONLY", async () => {
  const writer = await postgres({ url: database.url, schema: "standby" });
  await writer.commit([creation(1)]);
  const reader = await postgres({ url: withSetting("default_transaction_read_only", "on"), schema: "standby" });
  expect(await reader.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
  await expect(reader.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({
    code: "READ_ONLY",
    committed: false,
  });
  await Promise.all([writer.close(), reader.close()]);
});

test("serialization failures are tried again", async () => {
  const url = withSetting("default_transaction_isolation", "serializable");
  const backends = await Promise.all([1, 2].map(() => postgres({ url, schema: "serializable" })));
  await (backends[0] as Backend).commit([{ puts: [{ key: metaOf(1), value: recordText(0) }] }]);
  const count = async (backend: Backend): Promise<void> => {
    for (let done = 0; done < 20; ) {
      const [seen] = (await backend.read([{ get: metaOf(1) }])) as [string];
      const next = recordText(Number(seen.slice(10)) + 1);
      const [applied] = await backend.commit([
        { checks: [{ key: metaOf(1), value: seen }], puts: [{ key: metaOf(1), value: next }] },
      ]);
      if (applied) done++;
    }
  };
  await Promise.all(backends.map(count));
  expect(await (backends[0] as Backend).read([{ get: metaOf(1) }])).toEqual([recordText(40)]);
  await Promise.all(backends.map((backend) => backend.close()));
});

test("a commit that closes a ring of waiting transactions is tried again", async () => {
  const backend = await postgres({ url: withSetting("deadlock_timeout", "10"), schema: "deadlock" });
  const keys = [metaOf(1), at("tail", 1, 1), at("mark", 1, 1)];
  await backend.commit([{ puts: keys.map((key) => ({ key, value: recordText(0) })) }]);
  const clients = [1, 2].map(() => new pg.Client({ connectionString: withSetting("deadlock_timeout", "60000") }));
  const [one, two] = clients as [pg.Client, pg.Client];
  for (const client of clients) {
    await client.connect();
    await client.query("begin");
  }
  // The commit locks meta and waits for tail; another waits for meta; then the commit wants mark, which that one holds.
  await one.query("select from deadlock.tail for update");
  await two.query("select from deadlock.mark for update");
  const committed = backend.commit([
    { checks: keys.map((key) => ({ key, value: recordText(0) })), puts: [{ key: metaOf(1), value: recordText(1) }] },
  ]);
  await database.waitForLocks(1);
  const waiting = two.query("select from deadlock.meta for update");
  await database.waitForLocks(2);
  await one.query("commit");
  await waiting;
  await two.query("commit");
  expect(await committed).toEqual([true]);
  for (const client of clients) await client.end();
  await backend.close();
});

/** Until the server has no connection of that name left. */
async function gone(name: string): Promise<void> {
  for (let waited = 0; waited < 400; waited++) {
    const left = await database.query("select 1 from pg_stat_activity where application_name = $1", [name]);
    if (left.length === 0) return;
    await sleep(25);
  }
  throw new Error(`connections of ${name} are left`);
}
