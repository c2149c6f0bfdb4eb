import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

/** Makes a store as an earlier version left it: without an index in meta records and without entries. */
async function makeOld(count: number): Promise<string> {
  const file = path("agent.db");
  const store = await open<{ n: number }>(`sqlite:${file}`, { fsync: "normal" });
  for (let number = 0; number < count; number += 1) {
    await store
      .thread(`t${number}`)
      .put({ state: { n: number }, workflow: "w", run: `r${number}`, next: number % 2 ? ["x"] : [] });
  }
  await store.close();
  const database = new DatabaseSync(file);
  const { unwrapJson, wrapJson } = await import("../../../src/codec/envelope.ts");
  for (const { key, value } of database.prepare("SELECT CAST(key AS TEXT) AS key, value FROM meta").all() as {
    key: string;
    value: string;
  }[]) {
    const { index: _, ...meta } = unwrapJson(value) as Record<string, unknown>;
    database.prepare("UPDATE meta SET value = ? WHERE key = CAST(? AS INTEGER)").run(wrapJson(meta) as string, key);
  }
  database.exec("DELETE FROM entry");
  database.close();
  return file;
}

test("lists of a store of before are right at once, and its index is built while it is used", async () => {
  const file = await makeOld(30);
  const store = await open<{ n: number }>(`sqlite:${file}`);
  expect(await collect(store.threads({ status: "paused" }))).toHaveLength(15);
  expect(await collect(store.threads({ order: "updated", workflow: "w", limit: 5 }))).toHaveLength(5);
  expect((await store.counts()).threads).toBe(30);
  await store.thread("t0").put({ state: { n: 0 }, next: ["x"] });
  expect(await store.reindex()).toBe(30);
  expect(await collect(store.threads({ status: "paused" }))).toHaveLength(16);
  expect((await collect(store.threads({ run: "r7" }))).map(({ id }) => id)).toEqual(["t7"]);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

test("a store of before that may only be read is listed by reading it", async () => {
  const file = await makeOld(4);
  const store = await open(`sqlite:${file}`, { readOnly: true });
  expect(await collect(store.threads({ order: "updated", status: "done" }))).toHaveLength(2);
  expect((await store.counts()).status.paused).toBe(2);
  await store.close();
});

test("a reindex that is stopped leaves what it made, and the next one ends it", async () => {
  const file = await makeOld(40);
  const store = await open(`sqlite:${file}`);
  const stop = new AbortController();
  const stopped = store.reindex({ signal: stop.signal, progress: () => stop.abort(new Error("enough")) });
  await expect(stopped).rejects.toThrow("enough");
  const done: number[] = [];
  expect(await store.reindex({ progress: (threads) => done.push(threads) })).toBe(40);
  expect(done.at(-1)).toBe(40);
  expect((await store.verify()).ok).toBe(true);
  await store.close();
});

test("verify finds entries that are missing or wrong, and reindex repairs them", async () => {
  const file = path("agent.db");
  const store = await open(`sqlite:${file}`);
  await store.thread("a").put({ state: {}, attributes: { tenant: "acme" } });
  await store.thread("b").put({ state: {} });
  const database = new DatabaseSync(file);
  const change = (sql: string) => expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
  change("DELETE FROM entry WHERE text LIKE 'a%'");
  change(
    "INSERT INTO entry (text, lineage, tape) SELECT 'sw' || substr(text, 3), lineage, tape FROM entry WHERE text LIKE 'sd%'",
  );
  database.close();
  const { faults } = await store.verify();
  expect(faults.map(({ message }) => message)).toEqual([
    expect.stringContaining("is not in the index under"),
    expect.stringContaining("which is not so"),
    expect.stringContaining("which is not so"),
  ]);
  await store.reindex();
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  expect((await collect(store.threads({ where: { tenant: "acme" } }))).map(({ id }) => id)).toEqual(["a"]);
  await store.close();
});
