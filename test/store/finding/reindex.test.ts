import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { IndexEntry } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { wrapJson } from "../../../src/codec/envelope.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();
const emptyTree = { s: {}, p: [], n: [], c: [], i: [], b: [] };

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
  const { unwrapJson } = await import("../../../src/codec/envelope.ts");
  for (const { key, value } of database.prepare("SELECT CAST(key AS TEXT) AS key, value FROM meta").all() as {
    key: string;
    value: string;
  }[]) {
    const { i: _, ...meta } = unwrapJson(value) as Record<string, unknown>;
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
  expect(await store.stats()).toMatchObject({ threads: 4, checkpoints: 4 });
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
    "INSERT INTO entry (text, lineage, distance) SELECT 's' || char(1) || substr(text, 3), lineage, distance FROM entry WHERE text LIKE 's%'",
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

test("an index of the earlier layout is not read: lists read the threads until a reindex has made it anew", async () => {
  const backend = await memory();
  const meta = { version: 1, createdAt: 1_750_000_000_000, generation: 0, sealed: 0, rootSealed: 0, rootFull: 0 };
  const counts = { floor: 0, rewrites: 0, removed: 0, epoch: 0 };
  const index = { s: "d", t: 1_750_000_000_123, w: "chat", r: "r1" };
  const record = { ...meta, ...counts, thread: "a", index, attributes: { cost: 2 } };
  const row = {
    id: "one",
    step: 0,
    createdAt: index.t,
    run: "r1",
    workflow: "chat",
    count: 1,
    change: { r: emptyTree },
  };
  const key = { lineage: 7, part: 0 } as const;
  const texts = [
    "!",
    "sd0mbz4xl2j",
    "wchat\u0001d0mbz4xl2j",
    "acost\u0001nc000000000000000\u0001d0mbz4xl2j",
    "rr1\u0001",
  ];
  await backend.commit([
    {
      inserts: [
        { key: { ...key, table: "meta", group: 7, item: 7 }, value: wrapJson(record) },
        { key: { ...key, table: "tail", group: 7, item: 1 }, value: wrapJson(row) },
        { key: { table: "directory", id: "a" }, value: wrapJson({ tape: 7, lineage: 7 }) },
      ],
      entries: { add: texts.map((text) => ({ text, lineage: 7, tape: 7 })) },
    },
  ]);
  const store = await open<{ n: number }>(backend);
  const found = async (): Promise<readonly string[]> =>
    (await collect(store.threads({ status: "done", workflow: "chat", where: { cost: { gt: 1 } }, run: "r1" }))).map(
      ({ id }) => id,
    );
  expect(await found()).toEqual(["a"]);
  expect(await store.counts()).toMatchObject({ threads: 1, workflows: { chat: { done: 1 } } });
  expect(await store.thread("a").attributes()).toEqual({ cost: 2 });
  await store.thread("a").put({ state: { n: 1 }, run: "r2" });
  expect(await store.reindex()).toBe(1);
  const [entries] = (await backend.read([{ find: { from: "a", to: "x", limit: 99 } }])) as [readonly IndexEntry[]];
  const time = /[-0-9A-Z_a-z]{6}$/;
  expect(entries.map(({ text }) => text.replace(time, "")).sort()).toEqual([
    "acost\u0002c\u0004",
    "rr1",
    "rr2",
    "s\u0004",
    "wchat\u0004",
  ]);
  expect(await found()).toEqual(["a"]);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

test("verify finds a run that a thread shows and is not found by", async () => {
  const file = path("agent.db");
  const store = await open(`sqlite:${file}`);
  for (const run of ["r1", "r2"]) await store.thread("a").put({ state: {}, run });
  const database = new DatabaseSync(file);
  expect(database.prepare("DELETE FROM entry WHERE text = 'rr1'").run().changes).toBe(1);
  database.close();
  const { faults } = await store.verify();
  expect(faults.map(({ message }) => message)).toEqual([expect.stringContaining('is not found by its run "r1"')]);
  await store.reindex();
  expect((await store.verify()).ok).toBe(true);
  await store.close();
});
