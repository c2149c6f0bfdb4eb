import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { type OpenOptions, open } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";

test.each([
  "",
  "agent.db",
  "./agent.db",
  "mysql://localhost/x",
  "sqlite",
  "sqlite:",
  "file:",
  "memory:named",
  "sqlite://agent.db",
  "file://agent",
  "SQLITE:x.db",
  "C:\\agent.db",
  "http://example.org",
  "javascript:alert(1)",
  "__proto__:x",
  "constructor:x",
])("opening %j is a TypeError that names the urls there are", async (url) => {
  const error: unknown = await open(url).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toMatch(/memory:|sqlite:|file:/);
});

test.each([undefined, null, 5, {}, [], () => 1, { commit: 1 }])("opening %j is a TypeError", async (location) => {
  await expect(open(location as never)).rejects.toThrow(TypeError);
});

const wrongOptions: readonly [string, unknown][] = [
  ["clock", 5],
  ["clock", "now"],
  ["ids", "id"],
  ["fsync", "off"],
  ["fsync", true],
  ["readOnly", "yes"],
  ["cacheBytes", -1],
  ["cacheBytes", "64MB"],
  ["cacheBytes", Number.NaN],
  ["compression", "gzip"],
  ["classes", { Money: {} }],
  ["classes", { Money: { test: () => true, encode: () => 1 } }],
  ["classes", 5],
];

test.each(wrongOptions)("the option %s: %j is a TypeError, and nothing is created", async (name, value) => {
  const around = folderOfTest();
  const options = { [name]: value } as never;
  await expect(open("memory:", options)).rejects.toThrow(TypeError);
  await expect(open(`sqlite:${join(around, "store.db")}`, options)).rejects.toThrow(TypeError);
  expect(await readdir(around)).toEqual([]);
});

test("options that are no object are a TypeError", async () => {
  for (const options of [null, 5, "full", []])
    await expect(open("memory:", options as never)).rejects.toThrow(TypeError);
});

test("an id function that gives no id is an error at the put, and nothing is written", async () => {
  for (const wrong of ["", "a\0b", 5, undefined]) {
    const store = await open<object>("memory:", { ids: () => wrong as string });
    await expect(store.thread("t").put({ state: {} })).rejects.toThrow(TypeError);
    expect(await store.thread("t").count()).toBe(0);
    await store.close();
  }
});

test("a clock that gives no time is an error at the put, and nothing is written", async () => {
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, undefined, "now", new Date(0)]) {
    let times: readonly number[] = [1];
    const store = await open<object>("memory:", { clock: () => (times.length > 0 ? times[0] : wrong) as number });
    const thread = store.thread("t");
    await thread.put({ state: {} });
    times = [];
    await expect(thread.put({ state: {} })).rejects.toThrow("What the clock gave must be a finite number");
    await expect(thread.acquire({ holder: "h", ttl: 1_000 })).rejects.toThrow(TypeError);
    expect(await thread.count()).toBe(1);
    times = [3];
    await thread.put({ state: {} });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  }
});

test("a file that is no database is CORRUPT, and stays as it was", async () => {
  const around = folderOfTest();
  const path = join(around, "store.db");
  const text = "these are not the bytes of a database, and long enough to be looked at: ".repeat(20);
  await writeFile(path, text);
  const error: unknown = await (async () => {
    const store = await open(`sqlite:${path}`);
    try {
      await store.thread("t").latest();
    } finally {
      await store.close();
    }
  })().catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ThreadmarkError);
  expect((error as ThreadmarkError).code).toBe("CORRUPT");
  expect(await readdir(around)).toEqual(["store.db"]);
});

test("a store that is opened read-only reads, and refuses every change with READ_ONLY", async () => {
  const path = join(folderOfTest(), "store.db");
  const writable = await open<{ n: number }>(`sqlite:${path}`);
  await writable.thread("t").put({ id: "a", state: { n: 1 } });
  await writable.close();
  const store = await open<{ n: number }>(`sqlite:${path}`, { readOnly: true });
  const thread = store.thread("t");
  expect((await thread.latest())?.state).toEqual({ n: 1 });
  const changes = [
    () => thread.put({ state: { n: 2 } }),
    () => thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: 1 }] }),
    () => thread.label("a", "l"),
    () => thread.fork(),
    () => thread.copy("k"),
    () => thread.deleteCheckpoints(["a"]),
    () => thread.delete(),
    () => thread.acquire({ holder: "h", ttl: 1000 }),
    () => store.compact(),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: "READ_ONLY" });
  expect((await thread.latest())?.state).toEqual({ n: 1 });
  expect(await thread.count()).toBe(1);
  await store.close();
});

test("readOnly and fsync are refused where nothing would heed them", async () => {
  await expect(open("memory:", { readOnly: true })).rejects.toThrow(/A memory: store is empty at first/);
  const backend = memory();
  for (const options of [{ readOnly: true }, { fsync: "normal" }] as const) {
    await expect(open(backend, options as never)).rejects.toThrow(/where the backend is opened/);
  }
  await (await open(backend, { readOnly: false } as never)).close();
  await (await open("memory:", { fsync: "normal", readOnly: false })).close();
});

test("options are taken as a variable of their type, and an option of another scheme is a TypeError", async () => {
  const options: OpenOptions = { fsync: "normal" };
  await (await open("memory:", options)).close();
  await (await open("sqlite::memory:", { ...options, busyTimeout: 5 })).close();
  // @ts-expect-error: an option of sqlite: stores.
  await expect(open("memory:", { ...options, busyTimeout: 5 })).rejects.toThrow(/unknown key "busyTimeout"/);
  // @ts-expect-error: no such value.
  await expect(open("memory:", { fsync: "sometimes", busyTimeout: 5 })).rejects.toThrow(TypeError);
});

test("a store whose states have no type takes updates of any key", async () => {
  const store = await open("memory:");
  const thread = store.thread("t");
  await thread.put({ state: { log: ["a"], draft: "" } });
  await thread.put({ update: { append: { log: ["b"] }, set: { n: 1 }, unset: ["draft"] } });
  expect((await thread.latest())?.state).toEqual({ log: ["a", "b"], n: 1 });
  const typed = await open<{ n: number }>("memory:");
  // @ts-expect-error: a state of this type has no such key.
  await typed.thread("t").put({ update: { unset: ["draft"] } });
});
