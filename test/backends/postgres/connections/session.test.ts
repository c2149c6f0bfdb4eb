import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { open } from "../../../../src/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { CountingPool } from "../support/counting.ts";
import { creation, metaOf, sealing, step } from "../support/records.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

function poolWith(...statements: readonly string[]): pg.Pool {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  pool.on("connect", (client) => {
    for (const statement of statements) void client.query(statement);
  });
  return pool;
}

const inUtf8 = { code: "UNSUPPORTED", message: expect.stringMatching(/client_encoding LATIN1.*UTF8/) };

test("a pool with another client_encoding is refused when it is opened", async () => {
  const pool = poolWith("set client_encoding to 'LATIN1'");
  await expect(postgres({ pool, schema: "latin" })).rejects.toMatchObject(inUtf8);
  await pool.end();
});

test("a connection that got another client_encoding later is refused, and put right by the application used again", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const store = await open<{ text: string }>(await postgres({ pool, schema: "later_latin" }));
  await store.thread("größe").put({ state: { text: "é" } });
  await pool.query("set client_encoding to 'LATIN1'");
  await expect(store.thread("größe").put({ state: { text: "ü" } })).rejects.toMatchObject({
    ...inUtf8,
    committed: false,
  });
  await expect(store.thread("größe").latest()).rejects.toMatchObject(inUtf8);
  await expect(store.thread("maß").put({ state: { text: "ü" } })).rejects.toMatchObject(inUtf8);
  await pool.query("reset client_encoding");
  await store.thread("größe").put({ state: { text: "ß" } });
  await store.close();
  await pool.end();
  const other = await open<{ text: string }>(database.url, { schema: "later_latin" });
  expect((await other.thread("größe").latest())?.state).toEqual({ text: "ß" });
  expect(await other.thread("größe").count()).toBe(2);
  expect(await other.thread("maß").latest()).toBeUndefined();
  await other.close();
});

test("repeatable read as the default is refused when a store is opened, set for the pool, the role or the database", async () => {
  const refusal = { code: "UNSUPPORTED", message: expect.stringMatching(/repeatable read.*read committed/) };
  const isolation = "default_transaction_isolation";
  const pool = poolWith(`set ${isolation} to 'repeatable read'`);
  await expect(postgres({ pool, schema: "isolated" })).rejects.toMatchObject(refusal);
  await pool.end();
  const url = new URL(database.url);
  url.searchParams.set("options", `-c ${isolation}=repeatable\\ read`);
  await expect(postgres({ url: url.href, schema: "isolated" })).rejects.toMatchObject(refusal);
  await database.query("create role careful login password 'careful'");
  await database.query(`alter role careful set ${isolation} to 'repeatable read'`);
  const role = new URL(database.url);
  role.username = "careful";
  role.password = "careful";
  await expect(postgres({ url: role.href, schema: "isolated" })).rejects.toMatchObject(refusal);
  await database.query("drop role careful");
  const [found] = await database.query("select current_database() as name");
  await database.query(`alter database ${found?.name} set ${isolation} to 'repeatable read'`);
  await expect(postgres({ url: database.url, schema: "isolated" })).rejects.toMatchObject(refusal);
  await database.query(`alter database ${found?.name} reset ${isolation}`);
});

test("repeatable read that a session gets later refuses what it would break, and writes nothing", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const backend = await postgres({ pool, schema: "later_isolated" });
  await backend.commit([creation(1)]);
  await pool.query("set default_transaction_isolation to 'repeatable read'");
  await expect(backend.commit([sealing(1, 1, recordText("meta"), recordText("sealed"))])).rejects.toMatchObject({
    code: "UNSUPPORTED",
    committed: false,
  });
  await pool.query("reset default_transaction_isolation");
  expect(await backend.read([{ get: metaOf(1) }])).toEqual([recordText("meta")]);
  await backend.close();
  await pool.end();
});

test("settings that change how values are written, ordered, limited or found change nothing that is stored or read", async () => {
  const pool = poolWith(
    "set search_path to nowhere",
    "set bytea_output to escape",
    "set datestyle to 'German, DMY'",
    "set timezone to 'Pacific/Apia'",
    "set intervalstyle to sql_standard",
    "set extra_float_digits to -15",
    "set array_nulls to off",
    "set session_replication_role to replica",
    "set row_security to off",
    "set quote_all_identifiers to on",
    "set transform_null_equals to on",
    "set plpgsql.extra_errors to 'all'",
    "set plpgsql.variable_conflict to error",
    "set standard_conforming_strings to off",
    "set default_transaction_deferrable to on",
    "set check_function_bodies to off",
    "set xmloption to document",
    "set lc_messages to 'C'",
  );
  const types = pg.types as unknown as { setTypeParser(type: number, parser: unknown): void };
  const before = [20, 17, 25, 23].map((type) => [type, pg.types.getTypeParser(type)] as const);
  for (const [type] of before) types.setTypeParser(type, () => "changed");
  try {
    const store = await open<{ n: number; bytes: Uint8Array }>(await postgres({ pool, schema: "settings" }), {
      compression: "deflate",
    });
    const thread = store.thread("tänne");
    for (let n = 0; n < 140; n += 1) await thread.put({ state: { n, bytes: Uint8Array.of(n, 0, 92, 39) } });
    await store.compact();
    expect((await store.verify()).faults).toEqual([]);
    expect((await store.stats()).checkpoints).toBe(140);
    await store.close();
  } finally {
    for (const [type, parser] of before) types.setTypeParser(type, parser);
  }
  await pool.end();
  const other = await open<{ n: number; bytes: Uint8Array }>(database.url, { schema: "settings" });
  expect((await other.thread("tänne").latest())?.state).toEqual({ n: 139, bytes: Uint8Array.of(139, 0, 92, 39) });
  await other.close();
});

test("a session that was given a role without rights says so, and writes nothing", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const backend = await postgres({ pool, schema: "given_role" });
  await backend.commit([creation(1)]);
  await database.query("create role nobody_much");
  await pool.query("set role nobody_much");
  await expect(backend.commit([step(1, 1, recordText(1))])).rejects.toMatchObject({
    code: "BACKEND",
    committed: false,
    message: expect.stringContaining("the role lacks a right"),
  });
  await pool.query("reset role");
  expect(await backend.commit([step(1, 1, recordText(1))])).toEqual([true]);
  await backend.close();
  await pool.end();
  await database.query("drop role nobody_much");
});

test("a connection is asked for its settings once, by however many stores", async () => {
  const pool = new CountingPool({ connectionString: database.url, max: 1 });
  const stores = [];
  for (let index = 0; index < 5; index += 1) stores.push(await postgres({ pool, schema: "asked" }));
  for (const [index, backend] of stores.entries()) await backend.commit([creation(index + 1)]);
  expect(pool.statements.filter((statement) => statement.includes("client_encoding"))).toHaveLength(1);
  for (const backend of stores) await backend.close();
  await pool.end();
});
