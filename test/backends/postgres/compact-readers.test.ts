import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/database.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** A session inside a transaction that has read the tails of a schema; gives what ends it. */
async function reader(schema: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("begin");
  await client.query(`select count(*) from ${schema}.tail`);
  return () => client.end();
}

test("puts are committed while a compaction waits for a transaction that is open elsewhere", async () => {
  const store = await open<{ n: number }>(
    await postgres({ url: database.url, schema: "waiting", patience: 600_000, connections: 3 }),
  );
  const thread = store.thread("t");
  await thread.put({ state: { n: 0 } });
  const end = await reader("waiting");
  let compacted = false;
  const compacting = store.compact().then(() => {
    compacted = true;
  });
  for (let n = 1; n <= 40; n += 1) {
    await thread.put({ state: { n } });
    await wait(10);
  }
  expect(compacted).toBe(false);
  await end();
  await compacting;
  expect(await thread.count()).toBe(41);
  await store.close();
});

test("a compaction that a transaction elsewhere outlasts says what it has done, and can be run again", async () => {
  const store = await open<{ n: number }>(await postgres({ url: database.url, schema: "outlasted", patience: 300 }));
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 0 } });
  await thread.put({ state: { n: 1 } });
  await thread.deleteCheckpoints([id]);
  const end = await reader("outlasted");
  const error = await store.compact().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "BUSY", message: expect.stringMatching(/tail.*Run compact\(\) again/) });
  await thread.put({ state: { n: 2 } });
  await end();
  await store.compact();
  expect(await thread.count()).toBe(2);
  await store.close();
});
