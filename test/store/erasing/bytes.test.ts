import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { DirectoryKey, Key } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { directory } from "../../../src/large-values/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/database.ts";
import { startServer } from "../../support/redis/server.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

const secret = "alice-4711@example.com";

function newFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Puts the secret into every kind of record, and erases it. */
async function putAndErase(
  store: Store<Record<string, unknown>>,
  looks = async (): Promise<void> => {},
): Promise<void> {
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
  await looks();
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

test("after erase and compact no byte of the value is in the keys of a Redis server, in its append-only file or in a snapshot", async () => {
  // Compressed texts could not be searched.
  const server = await startServer("--rdbcompression", "no");
  onTestFinished(() => server.remove());
  const store = await open<Record<string, unknown>>(server.url);
  await putAndErase(store, async () => {
    // The append-only file has every command that was ever given, until it is written anew.
    expect(holds(server.folder)).not.toEqual([]);
  });
  expect(holds(server.folder)).toEqual([]);
  await server.command("SAVE");
  expect(readdirSync(server.folder)).toContain("dump.rdb");
  expect(holds(server.folder)).toEqual([]);
  expect(await bundleOf(store)).not.toContain(secret);
  await store.close();
});

test("after erase and compact no byte of the value is in the records, entries and log of a store in memory", async () => {
  const backend = memory();
  const keys = new Map<string, Key | DirectoryKey>();
  const told = forwarding(backend, {
    commit: async (batches) => {
      for (const { inserts = [], puts = [] } of batches) {
        for (const { key } of [...inserts, ...puts]) keys.set(JSON.stringify(key), key);
      }
      return backend.commit(batches);
    },
  });
  const everything = async (): Promise<string> => {
    const records = [...keys.values()].map((get) => ({ get }));
    const find = { from: "\u0001", to: "\uffff", limit: 1000 };
    const values = await backend.read([...records, { find }, { log: { after: "", limit: 1000 } }]);
    return JSON.stringify(values);
  };
  const store = await open<Record<string, unknown>>(told);
  await putAndErase(store);
  expect(keys.size).toBeGreaterThan(50);
  expect(await everything()).not.toContain(secret);
  expect(await bundleOf(store)).not.toContain(secret);
  await store.thread("t").put({ state: { secret }, attributes: { secret } });
  expect((await everything()).split(secret).length).toBeGreaterThan(3);
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
