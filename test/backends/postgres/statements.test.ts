import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend, Read, Table } from "../../../src/backend.ts";
import { tables } from "../../../src/backend.ts";
import { postgres } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../support/postgres/database.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { recordText } from "../../support/texts.ts";
import { CountingPool } from "./support/counting.ts";
import { at, creation, metaOf, sealing, step } from "./support/records.ts";

let database: TestDatabase;
let pool: CountingPool;
let backend: Backend;

beforeAll(async () => {
  database = await createDatabase();
  pool = new CountingPool({ connectionString: database.url, max: 8 });
  backend = await postgres({ pool });
  await backend.commit(Array.from({ length: 200 }, (_, index) => creation(index + 1)));
});
afterAll(async () => {
  await backend.close();
  await pool.end();
  await database.drop();
});

const names = Object.keys(tables) as Table[];

test("a read is one statement, whatever is read", async () => {
  const range = (table: Table) => ({ table, lineage: 1, group: 1 });
  const lists: readonly (readonly Read[])[] = [
    [{ get: metaOf(1) }],
    [{ get: metaOf(1) }, { scan: range("tail") }, { scan: range("net"), reverse: true, limit: 1 }],
    [{ list: { limit: 10 } }, { list: { prefix: "a", limit: 10 } }, { get: { table: "directory", id: "a" } }],
    names.flatMap((table) => [{ scan: range(table) }, { scan: range(table), reverse: true }, { get: at(table, 1, 1) }]),
    Array.from({ length: 500 }, (_, item) => ({ get: at("write", 1, item, item) })),
    Array.from({ length: 100 }, (_, index) => ({ scan: { ...range("tail"), from: index, to: index + 10 }, limit: 3 })),
  ];
  for (const reads of lists) expect(await pool.during(() => backend.read(reads))).toHaveLength(1);
});

test("reads of the same kinds are the same statement, so that it stays prepared", async () => {
  const first = await pool.during(() =>
    backend.read([{ get: metaOf(1) }, { scan: { table: "tail", lineage: 1, group: 1 } }]),
  );
  const second = await pool.during(() =>
    backend.read([{ scan: { table: "tail", lineage: 7, group: 7, from: 3 }, limit: 2 }, { get: metaOf(7) }]),
  );
  expect(second).toEqual(first);
});

test("the commit of a step is one statement", async () => {
  expect(await pool.during(() => backend.commit([step(1, 1, recordText(1))]))).toHaveLength(1);
  expect(await pool.during(() => backend.commit([step(1, 1, recordText("taken"))]))).toHaveLength(1);
});

test.each([
  [1, "checked"],
  [2, "checked"],
  [1, "unchecked"],
  [2, "unchecked"],
] as const)("and so it is with records beside it: %i, %s", async (count, kind) => {
  const group = count + (kind === "checked" ? 10 : 20);
  const keys = [1, 2].slice(0, count).map((part) => at("write", group, 1, part));
  const { checks = [], inserts = [] } = step(group, 9, recordText(9));
  const beside = keys.map((key) => ({ key, value: recordText(key.part) }));
  const batch = { checks: kind === "checked" ? checks : [], inserts: [...beside, ...inserts] };
  const [first, ...more] = await pool.during(() => backend.commit([batch]));
  expect(first).toMatch(/insert into \S+\.write .* insert into \S+\.tail/s);
  expect(more).toEqual([]);
  expect(await backend.read(keys.map((key) => ({ get: key })))).toEqual(beside.map(({ value }) => value));
  expect(await pool.during(() => backend.commit([batch]))).toHaveLength(1);
  expect(await backend.commit([batch])).toEqual([false]);
  // A batch that a check refuses leaves nothing.
  const next = { key: at("write", group, 2, 1), value: recordText("next") };
  const refused = {
    checks: [{ key: metaOf(group), value: recordText("another") }],
    inserts: [next, ...step(group, 10, recordText(10)).inserts!],
  };
  expect(await backend.commit([refused])).toEqual([false]);
  expect(await backend.read([{ get: next.key }])).toEqual([undefined]);
});

test("the commit of 32 threads' steps is one statement, of 200 at most four", async () => {
  const steps = (count: number, seq: number) =>
    Array.from({ length: count }, (_, index) => step(index + 1, seq, recordText(index)));
  expect(await pool.during(() => backend.commit(steps(32, 2)))).toHaveLength(1);
  expect((await pool.during(() => backend.commit(steps(200, 3)))).length).toBeLessThanOrEqual(4);
});

test("sealing, forking and every other commit of one batch is one statement", async () => {
  expect(
    await pool.during(() => backend.commit([sealing(1, 3, recordText("meta"), recordText("sealed"))])),
  ).toHaveLength(1);
  const fork = {
    checks: [
      { key: metaOf(1), value: recordText("sealed") },
      { key: { table: "directory", id: "fork" } as const, value: undefined },
    ],
    inserts: [
      { key: { table: "directory", id: "fork" } as const, value: recordText("fork") },
      { key: { table: "meta", lineage: 1, group: 1, item: 900, part: 0 } as const, value: recordText("fork") },
    ],
  };
  expect(await pool.during(() => backend.commit([fork]))).toHaveLength(1);
  expect(await backend.commit([fork])).toEqual([false]);
});

test("no connection is kept", () => {
  expect(pool.out).toBe(0);
});

test("a pool that was passed in is not ended with the store", async () => {
  const other = await postgres({ pool, schema: "other" });
  await other.close();
  expect((await pool.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});
