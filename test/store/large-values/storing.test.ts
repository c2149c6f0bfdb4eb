import { describe, expect, it, vi } from "vitest";
import { open } from "../../../src/api/open.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { censusOf, documentOf } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: states of every shape.
type Free = Record<string, any>;

const MB = 1024 * 1024;

async function opened(options = {}) {
  const backend = memory();
  const store = await open<Free>(backend, { largeValues: { from: 8192 }, packRows: 4, ...options });
  const bytes = async (): Promise<number> => {
    const { tables } = await backend.size();
    return Object.values(tables).reduce((sum, table) => sum + table.bytes, 0);
  };
  const reopened = () => open<Free>(backend, { largeValues: { from: 8192 }, packRows: 4, ...options });
  return { backend, store, bytes, reopened };
}

describe("a large value is stored once", () => {
  it("four copies of a document of 1 MB in one state take at most 1.02 times one copy", async () => {
    const { store, bytes, reopened } = await opened();
    const text = documentOf(MB);
    const one = await opened({ largeValues: { from: Number.POSITIVE_INFINITY } });
    await one.store.thread("t").put({ state: { a: text } });
    const state = { a: text, b: { c: text }, list: [text, [text]] };
    await store.thread("t").put({ state });
    expect(await bytes()).toBeLessThan(1.02 * (await one.bytes()));
    expect((await (await reopened()).thread("t").latest())?.state).toEqual(state);
  });

  it("a write, the checkpoint that follows, forks and copies share it", async () => {
    const { store, backend, bytes, reopened } = await opened();
    const thread = store.thread("t");
    const first = await thread.put({ state: { results: [] } });
    const result = documentOf(100_000);
    await thread.putWrites(first.id, { task: "1", writes: [{ channel: "results", value: { output: result } }] });
    await thread.put({ update: { append: { results: [{ output: result }] } } });
    const fork = await thread.fork({ into: "fork", edits: { copy: result } });
    await fork.put({ update: { set: { again: [result] } } });
    await thread.copy("copy");
    await store.thread("copy").put({ update: { set: { mine: result } } });
    expect((await censusOf(backend)).stored).toHaveLength(1);
    expect(await bytes()).toBeLessThan(1.05 * JSON.stringify(result).length);
    const again = await reopened();
    expect((await again.thread("t").writes(first.id))[0]?.value).toEqual({ output: result });
    expect((await again.thread("fork").latest())?.state).toEqual({
      results: [{ output: result }],
      copy: result,
      again: [result],
    });
    expect((await again.thread("copy").latest())?.state["mine"]).toBe(result);
  });

  it("another process refers to the value that is there", async () => {
    const { store, backend, reopened } = await opened();
    const text = documentOf(20_000);
    await store.thread("t").put({ state: { a: text } });
    const other = await reopened();
    await other.thread("t").put({ update: { set: { b: text } } });
    await store.thread("t").put({ update: { set: { c: text } } });
    expect((await censusOf(backend)).stored).toHaveLength(1);
    expect((await other.thread("t").latest())?.state).toEqual({ a: text, b: text, c: text });
  });

  it("bytes, and lists of many small values, are large values too", async () => {
    const { store, backend, reopened } = await opened();
    const state = {
      image: Buffer.from(documentOf(30_000)),
      floats: Float64Array.from({ length: 2_000 }, (_, index) => index / 7),
      embedding: Array.from({ length: 3_000 }, (_, index) => index / 9),
      found: [{ hits: Array.from({ length: 20 }, (_, index) => ({ hit: index, body: documentOf(1_000, index) })) }],
      map: new Map([["key", documentOf(9_000, "map")]]),
      $: documentOf(9_000, "escaped"),
    };
    await store.thread("t").put({ state });
    const { stored, referred } = await censusOf(backend);
    expect(stored).toHaveLength(6);
    expect(referred).toEqual(stored);
    expect((await backend.size()).tables.tail.bytes).toBeLessThan(2_000);
    expect((await (await reopened()).thread("t").latest())?.state).toEqual(state);
  });

  it("a container that merely grows never becomes a value", async () => {
    const { store, backend } = await opened();
    const thread = store.thread("t");
    await thread.put({ state: { messages: [] } });
    for (let n = 0; n < 100; n++) await thread.put({ update: { append: { messages: [documentOf(500, n)] } } });
    expect((await censusOf(backend)).stored).toEqual([]);
  });

  it("editing a line of one copy is a delta, and stays one when sealed and pruned", async () => {
    const { store, backend, bytes, reopened } = await opened();
    const thread = store.thread("t");
    const text = documentOf(MB);
    const state: Free = { a: text, b: text };
    await thread.put({ state });
    for (let n = 0; n < 40; n++) {
      state["a"] = (state["a"] as string).replace(`line ${n * 50},`, `LINE ${n},`);
      await thread.put({ state });
    }
    expect(await bytes()).toBeLessThan(1.02 * JSON.stringify(text).length);
    expect((await (await reopened()).thread("t").latest())?.state).toEqual(state);
    await thread.prune({ keepLast: 1 });
    expect(await bytes()).toBeLessThan(1.02 * JSON.stringify(text).length);
    expect((await censusOf(backend)).stored).toHaveLength(1);
    const again = await reopened();
    expect((await again.thread("t").latest())?.state).toEqual(state);
    expect(await again.verify()).toEqual({ ok: true, faults: [] });
  });

  it("unchanged values are neither hashed nor written again when the whole state is put", async () => {
    const { store, bytes } = await opened();
    const thread = store.thread("t");
    const docs = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, documentOf(50_000, n)]));
    const hash = vi.spyOn(process.getBuiltinModule("node:crypto"), "hash");
    await thread.put({ state: { docs, n: 0 } });
    const before = await bytes();
    for (let n = 1; n < 200; n++) await thread.put({ state: { docs: { ...docs }, n } });
    expect((await bytes()) - before).toBeLessThan(30_000);
    expect(hash.mock.calls.filter(([algorithm]) => algorithm === "sha256")).toHaveLength(20);
    hash.mockRestore();
  });

  it("Infinity stores nothing apart, and other lengths are refused", async () => {
    const { store, backend } = await opened({ largeValues: { from: Number.POSITIVE_INFINITY } });
    await store.thread("t").put({ state: { a: documentOf(100_000) } });
    expect((await censusOf(backend)).stored).toEqual([]);
    for (const largeValues of [{ from: 0 }, { from: 1.5 }, { from: "8" }, { form: 1 }, { driver: {} }, 5, null]) {
      await expect(open("memory:", { largeValues } as never)).rejects.toThrow(TypeError);
    }
  });

  it("a store that was written without large values is read and written on", async () => {
    const backend = memory();
    const text = documentOf(50_000);
    const old = await open<Free>(backend, { largeValues: { from: Number.POSITIVE_INFINITY }, packRows: 4 });
    for (let n = 0; n < 10; n++) await old.thread("t").put({ state: { text, n } });
    const store = await open<Free>(backend, { largeValues: { from: 8192 }, packRows: 4 });
    for (let n = 10; n < 20; n++) await store.thread("t").put({ state: { text, n, copy: text } });
    expect((await store.thread("t").latest())?.state).toEqual({ text, n: 19, copy: text });
    expect((await censusOf(backend)).stored).toHaveLength(1);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
  });

  it("a bundle tells each value of a thread once", async () => {
    const { store } = await opened();
    const thread = store.thread("t");
    const text = documentOf(100_000);
    const first = await thread.put({ state: { a: text, b: text } });
    await thread.putWrites(first.id, { task: "1", writes: [{ channel: "c", value: text }] });
    await thread.put({ update: { set: { c: [text] } } });
    const lines: string[] = [];
    for await (const line of store.export()) lines.push(line);
    expect(lines.join("").length).toBeLessThan(110_000);
    const other = await opened();
    await other.store.import(lines);
    expect((await other.store.thread("t").latest())?.state).toEqual({ a: text, b: text, c: [text] });
    expect((await other.store.thread("t").writes(first.id))[0]?.value).toBe(text);
    expect((await censusOf(other.backend)).stored).toHaveLength(1);
    expect(await other.store.import(lines)).toMatchObject({ imported: 0, unchanged: 1 });
    const without = lines.filter((line) => !line.includes('"kind":"value"'));
    await expect((await opened()).store.import(without)).rejects.toMatchObject({ code: "CORRUPT" });
  });

  it("a state that is too large for one record is no problem where its values are apart", async () => {
    const { store, reopened } = await opened({ checkpointBytes: 100_000 });
    const state = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, documentOf(90_000, n)]));
    await store.thread("t").put({ state });
    await store.thread("t").put({ update: { set: { n: 1 } } });
    expect((await (await reopened()).thread("t").latest())?.state).toEqual({ ...state, n: 1 });
  });
});
