import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/database.ts";
import { recordText } from "../../../support/texts.ts";
import { creation, metaOf } from "../support/records.ts";
import { schemasOf } from "../support/schemas.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("processes that start at once make the shards of a store once", async () => {
  const script = fileURLToPath(new URL("../support/migrating-process.ts", import.meta.url));
  const options = JSON.stringify({ shards: 3 });
  const children = [1, 2, 3].map((tape) => fork(script, [database.url, String(tape), options]));
  await Promise.all(children.map((child) => once(child, "message")));
  expect(await schemasOf(database)).toEqual([]);
  const outcomes = children.map(async (child) => {
    const message = once(child, "message");
    child.send("go");
    return (await message)[0] as unknown;
  });
  expect(await Promise.all(outcomes)).toEqual(children.map(() => ({ applied: true })));
  expect(await schemasOf(database)).toEqual(["threadmark", "threadmark_0", "threadmark_1", "threadmark_2"]);
  expect(await database.query("select shards, layout from threadmark.shards")).toEqual([{ shards: 3, layout: 1001 }]);
  // Each lineage is in the schema of its number.
  for (const tape of [1, 2, 3]) {
    expect(await database.query(`select item::int from threadmark_${tape % 3}.meta`)).toEqual([{ item: tape }]);
  }
});

test("a store is opened with the number of shards that it has, given or not", async () => {
  for (const options of [{}, { shards: 3 }]) {
    const backend = await postgres({ url: database.url, ...options });
    expect(await backend.read([1, 2, 3].map((tape) => ({ get: metaOf(tape) })))).toEqual(
      Array(3).fill(recordText("meta")),
    );
    await backend.close();
  }
  await expect(postgres({ url: database.url, shards: 4 })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("has 3 shards, not 4"),
  });
});

test("of two processes that make a store with different numbers of shards, the second is refused", async () => {
  const options = { url: database.url, schema: "differing" };
  const [two, five, none] = [
    await postgres({ ...options, shards: 2 }),
    await postgres({ ...options, shards: 5 }),
    await postgres(options),
  ];
  expect(await two.commit([creation(1)])).toEqual([true]);
  await expect(five.commit([creation(2)])).rejects.toMatchObject({ code: "UNSUPPORTED", committed: false });
  await expect(none.commit([creation(3)])).rejects.toMatchObject({ code: "UNSUPPORTED", committed: false });
  expect(await two.read([{ get: metaOf(1) }, { get: metaOf(2) }])).toEqual([recordText("meta"), undefined]);
  await Promise.all([two.close(), five.close(), none.close()]);
});

test("a store without shards does not get any, and a shard is no store", async () => {
  const backend = await postgres({ url: database.url, schema: "whole" });
  await backend.commit([creation(1)]);
  await backend.close();
  await expect(postgres({ url: database.url, schema: "whole", shards: 2 })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("without shards"),
  });
  await expect(postgres({ url: database.url, schema: "threadmark_1" })).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("belongs to a store with shards"),
  });
});

test("shards of a later version are refused", async () => {
  const backend = await postgres({ url: database.url, schema: "later", shards: 2 });
  await backend.commit([creation(1)]);
  await backend.close();
  await database.query("update later.shards set layout = 1999");
  await expect(postgres({ url: database.url, schema: "later" })).rejects.toMatchObject({ code: "VERSION" });
});

test("a shard whose schema was dropped is empty, and made again by a commit", async () => {
  const backend = await postgres({ url: database.url, schema: "dropped", shards: 2 });
  await backend.commit([creation(2)]);
  await backend.commit([creation(3)]);
  await database.query("drop schema dropped_1 cascade");
  expect(await backend.read([{ get: metaOf(2) }, { get: metaOf(3) }])).toEqual([recordText("meta"), undefined]);
  expect(await backend.commit([creation(3)])).toEqual([true]);
  expect(await backend.read([{ get: metaOf(3) }])).toEqual([recordText("meta")]);
  await backend.close();
});

test.each([
  [{ shards: 0 }],
  [{ shards: 257 }],
  [{ shards: 1.5 }],
  [{ shards: "4" as unknown as number }],
  [{ shards: 4, partitions: 2 }],
  [{ shards: 4, fsync: "normal" as const }],
  [{ shards: 4, schema: "x".repeat(61) }],
])("the options %j are a TypeError", async (options) => {
  await expect(postgres({ url: database.url, ...options })).rejects.toThrow(TypeError);
});

test("connections that acknowledge before they sync are refused by a store with shards", async () => {
  const url = new URL(database.url);
  url.searchParams.set("options", "-c synchronous_commit=off");
  const backend = await postgres({ url: url.href, schema: "unsynced", shards: 2 });
  await expect(backend.commit([creation(1)])).rejects.toMatchObject({
    code: "UNSUPPORTED",
    committed: false,
    message: expect.stringContaining("synchronous_commit"),
  });
  await backend.close();
  expect(await schemasOf(database)).not.toContain("unsynced");
});
