import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { open } from "../../../../src/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { Proxy } from "../../../support/postgres/proxy.ts";

let database: TestDatabase;
let proxy: Proxy;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await Proxy.before(database.url);
});
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

/** A pool that, once told to, lets something else happen before its next connection. */
class PausingPool extends pg.Pool {
  before: (() => Promise<unknown>) | undefined;

  constructor(url: string) {
    super({ connectionString: url, max: 1 });
    this.on("error", () => {});
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: never): void;
  override async connect(): Promise<pg.PoolClient> {
    const { before } = this;
    if (before && proxy.lost > 0) {
      this.before = undefined;
      await before();
    }
    return super.connect();
  }
}

test("a put that was lost on its way is not taken for another store's equal one of the same millisecond", async () => {
  const clock = (): number => 1_750_000_000_000;
  const pool = new PausingPool(proxy.url);
  const one = await open<{ n: number }>(await postgres({ pool }), { clock });
  const other = await open<{ n: number }>(database.url, { clock });
  await one.thread("t").put({ state: { n: 0 } });
  await other.thread("t").latest();
  pool.before = () => other.thread("t").put({ state: { n: 1 } });
  proxy.lost = 0;
  proxy.loseQuestion();
  await one.thread("t").put({ state: { n: 1 } });
  expect(proxy.lost).toBe(1);
  expect(pool.before).toBeUndefined();
  expect(await other.thread("t").count()).toBe(3);
  await one.close();
  await other.close();
  await pool.end();
});
