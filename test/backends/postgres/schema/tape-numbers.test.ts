import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { creation, metaOf, sealing, step } from "../support/records.ts";

const narrowTables = ["meta", "tail", "mark", "rows", "net", "steps", "id", "head", "write"];
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Makes a store as it was before layout 5: numbers are int4, and so are the parameters of `apply`. */
async function makeNarrow(schema: string): Promise<void> {
  const backend = await postgres({ url: database.url, schema });
  await backend.commit([creation(7)]);
  await backend.commit([step(7, 1, recordText(1))]);
  await backend.close();
  for (const name of narrowTables) {
    await database.query(
      `alter table ${schema}.${name} alter column lineage type int4, alter column "group" type int4`,
    );
  }
  await database.query(`alter table ${schema}.token alter column lineage type int4`);
  await database.query(
    `drop function ${schema}.apply(int8[], uuid[], int4[], int4[], int4[], int4[], int8[], int8[], int8[], int8[], text[], text[], bytea[])`,
  );
  await database.query(`delete from ${schema}.migration where number = 5`);
}

async function narrowColumns(schema: string): Promise<readonly Record<string, unknown>[]> {
  return database.query(
    `select distinct attrelid::regclass::text from pg_attribute a join pg_class c on c.oid = attrelid
     where relnamespace = $1::regnamespace and relkind = 'r' and attname in ('lineage', 'group') and atttypid = 'int4'::regtype`,
    [schema],
  );
}

test("a new store holds numbers of tapes up to 2^40", async () => {
  const backend = await postgres({ url: database.url, schema: "wide" });
  expect(backend.capabilities.tapes).toBe(2 ** 40);
  const tape = 2 ** 40 - 1;
  expect(await backend.commit([creation(tape)])).toEqual([true]);
  expect(await backend.commit([step(tape, 1, recordText(1))])).toEqual([true]);
  expect(await backend.read([{ get: metaOf(tape) }, { scan: { table: "meta", lineage: tape, group: tape } }])).toEqual([
    recordText("meta"),
    [{ item: tape, part: 0, value: recordText("meta") }],
  ]);
  await backend.close();
  expect(await narrowColumns("wide")).toEqual([]);
});

test("a store of an earlier version is read and written as it is, and widened by compact", async () => {
  await makeNarrow("narrow");
  const other = await postgres({ url: database.url, schema: "narrow" });
  const backend = await postgres({ url: database.url, schema: "narrow" });
  expect(backend.capabilities.tapes).toBe(2 ** 31);
  expect(await backend.read([{ get: metaOf(7) }])).toEqual([recordText("meta")]);
  await backend.commit([creation(8)]);
  for (const each of [other, backend]) {
    for (let seq = 2; seq < 9; seq++) await each.commit([step(7, seq, recordText(seq)), step(8, seq, recordText(seq))]);
  }
  expect(await backend.commit([creation(2 ** 31 - 1)])).toEqual([true]);
  expect((await narrowColumns("narrow")).length).toBeGreaterThan(0);
  await backend.compact();
  expect(await narrowColumns("narrow")).toEqual([]);
  // Another process goes on with the statements that it prepared before.
  expect(await other.commit([step(7, 8, recordText(8)), step(8, 99, recordText(99))])).toEqual([false, true]);
  expect(await other.commit([sealing(7, 4, recordText("meta"), recordText("sealed"))])).toEqual([true]);
  expect(await other.read([{ get: metaOf(7) }])).toEqual([recordText("sealed")]);
  await Promise.all([backend.close(), other.close()]);
  const again = await postgres({ url: database.url, schema: "narrow" });
  expect(again.capabilities.tapes).toBe(2 ** 40);
  expect(await again.commit([creation(2 ** 39)])).toEqual([true]);
  await again.close();
});
