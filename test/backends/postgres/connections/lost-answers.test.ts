import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Backend, Batch } from "../../../../src/backend.ts";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { Proxy } from "../../../support/postgres/proxy.ts";
import { recordText } from "../../../support/texts.ts";
import { at, creation, metaOf, sealing, step, tailOf } from "../support/records.ts";

let database: TestDatabase;
let proxy: Proxy;
let backend: Backend;
let direct: Backend;
let tape = 0;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await Proxy.before(database.url);
  backend = await postgres(proxy.url);
  direct = await postgres(database.url);
});
afterAll(async () => {
  await Promise.all([backend.close(), direct.close()]);
  await proxy.close();
  await database.drop();
});
beforeEach(async () => {
  tape++;
  await backend.commit([creation(tape)]);
  proxy.lost = 0;
});

const unique = (): string => recordText(randomBytes(8).toString("hex"));

test("a step whose answer was lost is applied once and reported as applied", async () => {
  const value = unique();
  proxy.loseAnswer();
  expect(await backend.commit([step(tape, 1, value)])).toEqual([true]);
  expect(proxy.lost).toBe(1);
  expect(await tailOf(direct, tape)).toEqual([{ item: 1, part: 0, value }]);
});

test("steps of many threads whose answer was lost are applied once each", async () => {
  const tapes = Array.from({ length: 20 }, () => ++tape);
  await backend.commit(tapes.map((one) => creation(one)));
  await direct.commit([step(tapes[3] as number, 1, recordText("another's"))]);
  const values = tapes.map(unique);
  proxy.loseAnswer();
  const applied = await backend.commit(tapes.map((one, index) => step(one, 1, values[index] as string)));
  expect(proxy.lost).toBe(1);
  expect(applied).toEqual(tapes.map((_, index) => index !== 3));
  for (const [index, one] of tapes.entries()) {
    expect((await tailOf(direct, one)).map(({ value }) => value)).toEqual([
      index === 3 ? recordText("another's") : values[index],
    ]);
  }
});

/** A step that takes along what a task has written. */
const withWrite = (one: number, value: string): Batch => {
  const { checks = [], inserts = [] } = step(one, 1, value);
  return { checks, inserts: [{ key: at("write", one, 1, 1), value: recordText("written") }, ...inserts] };
};

test("a step with a record beside it is applied once and reported as applied, alone and among many", async () => {
  const value = unique();
  proxy.loseAnswer();
  expect(await backend.commit([withWrite(tape, value)])).toEqual([true]);
  const tapes = Array.from({ length: 20 }, () => ++tape);
  await backend.commit(tapes.map((one) => creation(one)));
  await direct.commit([withWrite(tapes[3] as number, recordText("another's"))]);
  const values = tapes.map(unique);
  proxy.loseAnswer();
  const applied = await backend.commit(tapes.map((one, index) => withWrite(one, values[index] as string)));
  expect(proxy.lost).toBe(2);
  expect(applied).toEqual(tapes.map((_, index) => index !== 3));
  for (const [index, one] of tapes.entries()) {
    const shown = index === 3 ? recordText("another's") : values[index];
    expect((await tailOf(direct, one)).map((found) => found.value)).toEqual([shown]);
  }
});

test("a step of which another has put the last record just so is not taken for applied", async () => {
  const [first, last] = [at("write", tape, 1, 1), at("write", tape, 2, 2)];
  await direct.commit([{ inserts: [{ key: last, value: recordText("written") }] }]);
  const inserts = [first, last].map((key) => ({ key, value: recordText("written") }));
  proxy.loseAnswer();
  const committed = backend.commit([{ checks: [{ key: metaOf(tape), value: recordText("meta") }], inserts }]);
  await expect(committed).rejects.toMatchObject({ code: "BACKEND", committed: "unknown" });
  expect(await direct.read([{ get: first }])).toEqual([undefined]);
});

test("a step that was lost on the way is applied by its retry", async () => {
  proxy.loseQuestion();
  expect(await backend.commit([step(tape, 1, unique())])).toEqual([true]);
  expect(proxy.lost).toBe(1);
  expect(await tailOf(direct, tape)).toHaveLength(1);
});

test("a step refused by another's row stays refused when its answer was lost", async () => {
  await direct.commit([step(tape, 1, recordText("another's"))]);
  proxy.loseAnswer();
  expect(await backend.commit([step(tape, 1, unique())])).toEqual([false]);
});

test("a step whose row came and went cannot be told, and says so", async () => {
  const value = unique();
  const seal = (async () => {
    while ((await tailOf(direct, tape)).length === 0) await sleep(1);
    await direct.commit([sealing(tape, 1, recordText("meta"), recordText("sealed"))]);
  })();
  // Its answer is lost and no connection can be had until the other has sealed.
  const pool = new SlowPool(proxy.url, seal);
  const slow = await postgres({ pool });
  proxy.loseAnswer();
  const committed = slow.commit([step(tape, 1, value)]);
  await expect(committed).rejects.toMatchObject({ code: "BACKEND", committed: "unknown" });
  await seal;
  await slow.close();
  await pool.end();
});

test("sealing whose answer was lost is known by its token, even after more has happened", async () => {
  await direct.commit([step(tape, 1, unique())]);
  const later = (async () => {
    while ((await tailOf(direct, tape)).length > 0) await sleep(1);
    await direct.commit([sealing(tape, 2, recordText("sealed"), recordText("sealed again"))]);
  })();
  const pool = new SlowPool(proxy.url, later);
  const slow = await postgres({ pool });
  proxy.loseAnswer();
  expect(await slow.commit([sealing(tape, 1, recordText("meta"), recordText("sealed"))])).toEqual([true]);
  await slow.close();
  await pool.end();
  expect(await direct.read([{ get: metaOf(tape) }, { get: at("net", tape, 2) }])).toEqual([
    recordText("sealed again"),
    recordText({ table: "net", upTo: 2, after: recordText("sealed again") }),
  ]);
});

test("a delete whose answer was lost is reported as applied", async () => {
  proxy.loseAnswer();
  const batch = { checks: [{ key: metaOf(tape), value: recordText("meta") }], deletes: [metaOf(tape)] };
  expect(await backend.commit([batch])).toEqual([true]);
  expect(await direct.read([{ get: metaOf(tape) }])).toEqual([undefined]);
});

test("an attempt that is still under way on the server is waited for", async () => {
  const batches = { step: step(tape, 1, unique()), seal: sealing(tape, 1, recordText("meta"), recordText("sealed")) };
  for (const batch of [batches.step, batches.seal]) {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("begin");
    await client.query(`select from threadmark.meta where lineage = ${tape} for update`);
    const committed = backend.commit([batch]);
    await database.waitForLocks(1);
    proxy.cutClients();
    await database.waitForLocks(2);
    await client.query("commit");
    await client.end();
    expect(await committed).toEqual([true]);
  }
  expect(await direct.read([{ get: metaOf(tape) }])).toEqual([recordText("sealed")]);
  expect(await tailOf(direct, tape)).toEqual([]);
});

test("a read whose answer was lost is read again", async () => {
  proxy.loseAnswer();
  expect(await backend.read([{ get: metaOf(tape) }])).toEqual([recordText("meta")]);
  expect(proxy.lost).toBe(1);
});

test("tokens of applied commits are kept, of refused ones not", async () => {
  const [before] = await database.query(`select count(*)::int as tokens from threadmark.token where lineage = ${tape}`);
  await backend.commit([sealing(tape, 1, recordText("wrong"), recordText("sealed"))]);
  await backend.commit([sealing(tape, 1, recordText("meta"), recordText("sealed"))]);
  const [after] = await database.query(`select count(*)::int as tokens from threadmark.token where lineage = ${tape}`);
  expect(after?.tokens).toBe((before?.tokens as number) + 1);
});

/** A pool that waits for something before its third connection, which is the retry's. */
class SlowPool extends pg.Pool {
  readonly #until: Promise<unknown>;
  #connections = 0;

  constructor(url: string, until: Promise<unknown>) {
    super({ connectionString: url, max: 2 });
    this.on("error", () => {});
    this.#until = until;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: never): void;
  override async connect(): Promise<pg.PoolClient> {
    // The first two find the layout and send the commit.
    if (++this.#connections > 2) await this.#until;
    return super.connect();
  }
}
