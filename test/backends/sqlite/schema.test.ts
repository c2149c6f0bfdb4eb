import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Key } from "../../../src/backend.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail as tailKey } from "../support/tail-records.ts";

const path = folderForEach();

function meta(lineage: number, item: number): Key {
  return { table: "meta", lineage, group: lineage, item, part: 0 };
}

const later = ["value", "mail", "entry", "log"];

/** Makes a store as the first schema had it: without the index of tape numbers and the tables of the second format. */
async function makeFirstSchema(): Promise<string> {
  const file = path("agent.db");
  const backend = await sqlite(file);
  await put(backend, 1, "t1........1");
  // Written whether or not another lineage has the number: what earlier versions could come to.
  const puts = [1, 2].map((lineage) => ({ key: meta(lineage, 9), value: "t1........{}" }));
  await backend.commit([{ puts }]);
  await backend.close();
  const database = new DatabaseSync(file);
  database.exec(later.map((name) => `DROP TABLE "${name}"`).join(";"));
  database.exec(`DROP INDEX "meta_item"; PRAGMA user_version = 1`);
  database.close();
  return file;
}

function schemaOf(file: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { readonly user_version: number };
  const indexes = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'meta_item'").all();
  database.close();
  return [version, indexes.length];
}

test.each([true, false])(
  "a store of the first schema reads as it is and is left so, readOnly: %s",
  async (readOnly) => {
    const file = await makeFirstSchema();
    const backend = await sqlite(file, { readOnly });
    expect(await get(backend, 1)).toBe("t1........1");
    const reads = [
      { find: { from: "a", to: "b", limit: 1 } },
      { get: tailKey(1) },
      { tally: { from: "a", to: "b" } },
      { log: { after: "", limit: 1 } },
      { get: { ...tailKey(1), table: "value" } },
      { scan: { table: "mail", lineage: 1, group: 1 } },
    ] as const;
    const empty = { lines: [], end: "", expired: false };
    expect(await backend.read(reads)).toEqual([[], "t1........1", 0, empty, undefined, []]);
    expect((await backend.size()).tables).toMatchObject({ tail: { records: 1 }, entry: { records: 0 } });
    expect(await backend.verify()).toEqual([]);
    await backend.close();
    expect(schemaOf(file)).toEqual([1, 0]);
  },
);

test("a commit brings the first schema up to date, though a tape number was given out twice", async () => {
  const file = await makeFirstSchema();
  const backend = await sqlite(file);
  await put(backend, 2, "t1........2");
  expect(schemaOf(file)).toEqual([4, 1]);
  expect(await get(backend, 1)).toBe("t1........1");
  expect(await backend.commit([{ inserts: [{ key: meta(3, 9), value: "t1........{}" }] }])).toEqual([false]);
  expect(await backend.commit([{ inserts: [{ key: meta(3, 10), value: "t1........{}" }] }])).toEqual([true]);
  await backend.close();
});

test("whether another lineage has a tape number is looked up in the index", async () => {
  const file = await makeFirstSchema();
  const backend = await sqlite(file);
  await put(backend, 2, "t1........2");
  await backend.close();
  const database = new DatabaseSync(file, { readOnly: true });
  const plan = database
    .prepare("EXPLAIN QUERY PLAN SELECT 1 FROM meta WHERE key & 4294967295 = ? AND key >> 32 <> ? LIMIT 1")
    .all(1, 1);
  database.close();
  expect(plan).toEqual([expect.objectContaining({ detail: expect.stringContaining("INDEX meta_item") })]);
});

test("a store of the third schema that may only be read has its values and its log, and no entries", async () => {
  const file = path("agent.db");
  const backend = await sqlite(file);
  const key = { ...tailKey(1), table: "value" } as const;
  await backend.commit([{ puts: [{ key, value: "t1........1" }], log: { lineage: 1, lines: [{ at: 1, text: "a" }] } }]);
  await backend.close();
  const database = new DatabaseSync(file);
  database.exec(`DROP TABLE "entry"; PRAGMA user_version = 3;
    CREATE TABLE "entry" (text TEXT, lineage INTEGER, tape INTEGER, PRIMARY KEY (text, lineage, tape)) WITHOUT ROWID;
    INSERT INTO "entry" VALUES ('sd0mbz4xl2j', 1, 1)`);
  database.close();
  const reader = await sqlite(file, { readOnly: true });
  const reads = [{ find: { from: "s", to: "t", limit: 9 } }, { get: key }, { log: { after: "", limit: 9 } }] as const;
  expect(await reader.read(reads)).toMatchObject([[], "t1........1", { lines: [{ text: "a" }] }]);
  await reader.close();
  const writer = await sqlite(file);
  await put(writer, 2, "t1........2");
  expect(schemaOf(file)).toEqual([4, 1]);
  expect(await writer.read([{ tally: { from: "s", to: "t" } }])).toEqual([0]);
  await writer.close();
});
