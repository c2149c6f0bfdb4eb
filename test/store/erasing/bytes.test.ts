import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { open, type Store } from "../../../src/index.ts";
import { directory } from "../../../src/large-values/index.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/database.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

const secret = "alice-4711@example.com";

function newFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Puts the secret into every kind of record, and erases it. */
async function putAndErase(store: Store<Record<string, unknown>>): Promise<void> {
  const thread = store.thread("t");
  for (let n = 0; n < 80; n += 1) {
    await thread.put({
      state: { user: { email: secret }, n, text: `${n} ${secret}`, document: `${"x".repeat(9000)}${secret}` },
      metadata: { who: secret },
      attributes: { who: secret },
    });
  }
  const head = await thread.latest();
  await thread.putWrites(head?.id ?? "", { task: "t", writes: [{ channel: "a", value: { to: secret } }] });
  await thread.label({ step: 3 }, secret);
  await thread.fork({ at: { step: 5 }, into: "fork" });
  await thread.put({ id: head?.id ?? "", state: { replaced: secret } });
  await thread.prune({ keepLast: 30 });
  await thread.erase(["user", "email"], { forks: true });
  await store.compact();
}

async function bundleOf(store: Store<Record<string, unknown>>): Promise<string> {
  let text = "";
  for await (const line of store.export()) text += line;
  return text;
}

function holds(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((name) => existsSync(name) && readFileSync(name).includes(secret));
}

test.each(["none", "deflate"] as const)(
  "after erase and compact no byte of the value is in a SQLite file or its log (%s)",
  async (compression) => {
    const folder = newFolder();
    const store = await open<Record<string, unknown>>(`sqlite:${join(folder, "a.db")}`, {
      fsync: "normal",
      compression,
    });
    await putAndErase(store);
    expect(holds(folder)).toEqual([]);
    expect(await bundleOf(store)).not.toContain(secret);
    await store.close();
    expect(holds(folder)).toEqual([]);
  },
);

test("after erase and compact no byte of the value is in a journal", async () => {
  const folder = newFolder();
  const store = await open<Record<string, unknown>>(`file:${join(folder, "a")}`, { fsync: "normal" });
  await putAndErase(store);
  expect(holds(folder)).toEqual([]);
  expect(await bundleOf(store)).not.toContain(secret);
  await store.close();
});

test("after erase and compact no byte of the value is in objects outside the store", async () => {
  const [folder, objects] = [newFolder(), newFolder()];
  const largeValues = { driver: directory(objects) };
  const store = await open<Record<string, unknown>>(`sqlite:${join(folder, "a.db")}`, { fsync: "normal", largeValues });
  await putAndErase(store);
  expect([...holds(folder), ...holds(objects)]).toEqual([]);
  expect((await store.verify()).faults).toEqual([]);
  await store.close();
});

describe("on Postgres", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  test("after erase and compact no byte of the value is in a file of the store's tables and indexes", async () => {
    const store = await open<Record<string, unknown>>(database.url, { fsync: "normal", databaseSchema: "erased" });
    await putAndErase(store);
    await database.query("checkpoint");
    const files = await database.query(
      `select c.relname as name, position($1::bytea in pg_read_binary_file(pg_relation_filepath(c.oid))) as at
       from pg_class c where c.relkind in ('r', 'i', 't') and pg_relation_size(c.oid) > 0 and
         (c.relnamespace = 'erased'::regnamespace or
          c.oid in (select reltoastrelid from pg_class where relnamespace = 'erased'::regnamespace))`,
      [Buffer.from(secret)],
    );
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter(({ at }) => at !== 0)).toEqual([]);
    expect(await bundleOf(store)).not.toContain(secret);
    await store.close();
  });
});
