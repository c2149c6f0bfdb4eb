import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PoolLike } from "../../../../src/backends/postgres/index.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { open } from "../../../../src/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { creation, metaOf, sealing, step, tailOf } from "../support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("create table public.theirs (value int4)");
});
afterAll(() => database.drop());

/** Statements after which a connection is inside a transaction: open, with something written, or failed. */
const beginnings: Readonly<Record<string, readonly string[]>> = {
  open: ["begin"],
  writing: ["begin", "insert into public.theirs values (1)"],
  "repeatable read": ["begin isolation level repeatable read", "select 1"],
  "read-only": ["begin read only", "select 1"],
  failed: ["begin", "select 1 / 0"],
};

async function leave(pool: pg.Pool, statements: readonly string[]): Promise<void> {
  const client = await pool.connect();
  for (const statement of statements) await client.query(statement).catch(() => {});
  client.release();
}

/** The client as versions of the driver have it that do not tell the status themselves. */
function withoutStatus(pool: pg.Pool): PoolLike {
  pool.on("connect", (client) => Object.assign(client, { getTransactionStatus: undefined }));
  return pool;
}

for (const [name, statements] of Object.entries(beginnings)) {
  for (const older of [false, true]) {
    const driver = older ? "an older driver" : "the driver";
    test(`with ${driver}, a put is durable though every connection was left inside a transaction (${name})`, async () => {
      const pool = new pg.Pool({ connectionString: database.url, max: 1 });
      const schema = `left_${name.replaceAll(/\W/g, "_")}_${older}`;
      await leave(pool, statements);
      const backend = await postgres({ pool: older ? withoutStatus(pool) : pool, schema });
      await leave(pool, statements);
      expect(await backend.commit([creation(1)])).toEqual([true]);
      await leave(pool, statements);
      expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
      await leave(pool, statements);
      expect(await backend.commit([creation(2), step(1, 2, recordText(2))])).toEqual([true, true]);
      await leave(pool, statements);
      expect(await backend.commit([sealing(1, 1, recordText("meta"), recordText("sealed"))])).toEqual([true]);
      await leave(pool, statements);
      expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("sealed")]);
      await leave(pool, statements);
      await backend.compact();
      await leave(pool, statements);
      expect(await backend.verify()).toEqual([]);
      await leave(pool, statements);
      await backend.close();
      await pool.end();
      const other = await postgres({ url: database.url, schema });
      expect(await other.read([{ get: metaOf(1) }, { get: metaOf(2) }])).toEqual([
        recordText("sealed"),
        recordText("meta"),
      ]);
      expect(await tailOf(other, 1)).toEqual([{ item: 2, part: 0, value: recordText(2) }]);
      await other.close();
      expect(await database.query("select from public.theirs")).toEqual([]);
    });
  }
}

test("whoever listens to the pool is told that a connection was closed, and why", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const reasons: unknown[] = [];
  pool.on("release", (reason) => reasons.push(reason));
  const backend = await postgres({ pool, schema: "told" });
  await leave(pool, ["begin"]);
  reasons.length = 0;
  await backend.commit([creation(1)]);
  expect(String(reasons[0])).toMatch(/inside a transaction/);
  await backend.close();
  await pool.end();
});

test("a transaction that begins after the connection was given back does not take a put with it", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const backend = await postgres({ pool, schema: "late" });
  await backend.commit([creation(1)]);
  const client = await pool.connect();
  // Nobody waits for it: the pool has the connection before the server has the statement.
  const begun = client.query("begin").catch(() => {});
  client.release();
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  await begun;
  await backend.close();
  await pool.end();
  const other = await postgres({ url: database.url, schema: "late" });
  expect(await tailOf(other, 1)).toEqual([{ item: 1, part: 0, value: recordText(1) }]);
  await other.close();
});

test("a put is applied once though whoever left the transaction open still commits it", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const store = await open<{ n: number }>(await postgres({ pool, schema: "still" }));
  await store.thread("t").put({ state: { n: 0 } });
  for (let n = 1; n <= 10; n += 1) {
    const client = await pool.connect();
    const begun = client.query("begin").catch(() => {});
    client.release();
    const put = store.thread("t").put({ state: { n } });
    // Once the put's statement has been queued behind the beginning, this one is queued behind the put.
    await begun;
    await Promise.all([put, client.query("commit").catch(() => {})]);
  }
  await store.close();
  await pool.end();
  const other = await open<{ n: number }>(database.url, { schema: "still" });
  expect((await other.thread("t").latest())?.state).toEqual({ n: 10 });
  expect(await other.thread("t").count()).toBe(11);
  await other.close();
});

test("a pool whose connections are always inside a transaction is refused when patience ends, and nothing is written", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  pool.on("connect", (client) => void client.query("begin").catch(() => {}));
  const refusal = { code: "BACKEND", message: expect.stringMatching(/inside a transaction.*end every transaction/) };
  await expect(postgres({ pool, schema: "always", patience: 300 })).rejects.toMatchObject(refusal);
  await pool.end();
  expect(await database.query("select from pg_namespace where nspname = 'always'")).toEqual([]);
});

test("a client that cannot tell whether it is in a transaction is refused", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const blind: PoolLike = {
    async connect() {
      const client = await pool.connect();
      return {
        query: (config) => client.query(config),
        release: (destroy) => client.release(destroy),
        on: () => undefined,
        removeListener: () => undefined,
      };
    },
    end: () => pool.end(),
    on: (event, listener) => pool.on(event as "error", listener),
    removeListener: (event, listener) => pool.removeListener(event, listener),
  };
  await expect(postgres({ pool: blind, schema: "blind" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  await pool.end();
});
