import { describe, expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store, type Thread } from "../../../src/index.ts";
import { idsOf } from "../../support/collect.ts";
import { sharedBackend } from "../../support/shared-backend.ts";
import { linesOf } from "./exported.ts";

type Any = Record<string, unknown>;

/** A store with branches, forks, nested namespaces, replaced and labelled checkpoints, writes and rich types. */
async function filled(): Promise<Store<Any>> {
  const store = await open<Any>("memory:");
  const thread = store.thread("main");
  const ids: string[] = [];
  for (let step = 0; step < 140; step += 1) {
    const input =
      step === 0 ? { state: { log: [], at: new Date(7), big: 1n } } : { update: { append: { log: [{ step }] } } };
    ids.push((await thread.put({ ...input, node: "n", metadata: { step } })).id);
  }
  await thread.putWrites(ids[5] as string, {
    task: "t",
    writes: [{ channel: "c", value: new Map([[1, { deep: Number.NaN }]]) }],
  });
  await thread.put({ id: "own", state: { branch: true } }, { parent: ids[20] as string });
  await thread.put({ id: "own", state: { branch: "replaced" } });
  await thread.label(ids[3] as string, "here");
  await store.thread("main", { namespace: ["nested", "ü"] }).put({ state: { inner: [undefined] } });
  const fork = await thread.fork({ at: ids[70] as string, into: "fork", edits: { extra: new Set([1]) } });
  await fork.put({ update: { set: { extra: null } } });
  await thread.prune({ keepLast: 100, keepLabelled: true });
  return store;
}

async function everything(store: Store<Any>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { id } of store.threads()) {
    for (const namespace of await store.thread(id).namespaces()) {
      const thread = store.thread(id, { namespace });
      for await (const checkpoint of thread.history({ states: true }))
        all.push(checkpoint, await thread.writes(checkpoint.id));
    }
  }
  return all;
}

describe("bundles", () => {
  it("bundles carry everything that a store shows to another", async () => {
    const store = await filled();
    const lines = await linesOf(store);
    const other = await open<Any>("memory:");
    const result = await other.import(lines);
    expect(result).toMatchObject({ imported: 2, unchanged: 0 });
    expect(await everything(other)).toEqual(await everything(store));
    expect(await other.verify()).toEqual({ ok: true, faults: [] });
    await other.thread("main").put({ update: { set: { later: 1 } } });
    expect((await other.thread("main").latest())?.seq).toBeGreaterThan((await store.thread("main").latest())?.seq ?? 0);
  });

  it("bundles imported twice change nothing, and in chunks of bytes are the same", async () => {
    const store = await filled();
    const text = Buffer.from((await linesOf(store)).join(""));
    const chunks = Array.from({ length: Math.ceil(text.length / 1000) }, (_, index) =>
      text.subarray(index * 1000, index * 1000 + 1000),
    );
    const other = await open<Any>("memory:");
    await other.import(chunks);
    const before = await everything(other);
    expect(await other.import([text])).toMatchObject({ imported: 0, unchanged: 2 });
    expect(await everything(other)).toEqual(before);
  });

  it("bundles of some threads hold only those; an unknown thread is NOT_FOUND", async () => {
    const store = await filled();
    const other = await open<Any>("memory:");
    await other.import(store.export({ threads: ["fork"] }));
    const ids = await idsOf(other.threads());
    expect(ids).toEqual(["fork"]);
    await expect(linesOf(store, ["nope"])).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("bundles that are damaged are refused with the line's number, and nothing of that thread is written", async () => {
    const lines = await linesOf(await filled());
    // Threads come in the order of their ids: what stands before the damage is whole and stays.
    const cases = [
      { place: 10, break_: (line: string) => line.replace('"step"', '"stop"'), there: [] },
      { place: lines.length - 2, break_: () => "", there: ["fork"] },
      { place: lines.length - 1, break_: () => "", there: ["fork", "main"] },
      { place: 0, break_: () => "not a bundle\n", there: [] },
    ];
    for (const { place, break_, there } of cases) {
      const damaged = lines.map((line, index) => (index === place ? break_(line) : line));
      const other = await open<Any>("memory:");
      await expect(other.import(damaged)).rejects.toMatchObject({
        code: "CORRUPT",
        message: expect.stringMatching(/Line \d+/),
      });
      const threads = await idsOf(other.threads());
      expect(threads).toEqual(there);
      expect(await other.verify()).toEqual({ ok: true, faults: [] });
    }
  });

  it("bundles do not overwrite a thread that differs", async () => {
    const lines = await linesOf(await filled());
    const other = await open<Any>("memory:");
    await other.thread("main").put({ state: { mine: true } });
    await expect(other.import(lines)).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await other.thread("main").latest())?.state).toEqual({ mine: true });
  });

  it("bundles do not take a thread with the same ids for the same thread: its states and metadata count", async () => {
    const lines = await linesOf(await filled());
    const changes: readonly ((thread: Thread<Any>) => Promise<unknown>)[] = [
      (thread) => thread.put({ id: "own", state: { branch: "another" } }),
      (thread) => thread.label("own", "mine"),
      (thread) => thread.put({ id: "own", state: { branch: "replaced" }, metadata: { by: "me" } }),
    ];
    for (const change of changes) {
      const other = await open<Any>("memory:");
      await other.import(lines);
      await change(other.thread("main"));
      const before = await everything(other);
      await expect(other.import(lines)).rejects.toMatchObject({ code: "CONFLICT", thread: "main" });
      expect(await everything(other)).toEqual(before);
    }
  });

  it("bundles know a thread again whose deltas are stored in another way", async () => {
    const store = await open<Any>("memory:");
    const thread = store.thread("t");
    await thread.put({ id: "a", state: { n: 1, text: "as it was" }, createdAt: 1 });
    await thread.put({ id: "b", update: { set: { n: 2 } }, createdAt: 2 });
    const other = await open<Any>("memory:");
    await other.thread("t").put({ id: "a", state: { n: 1, text: "as it was" }, createdAt: 1 });
    await other.thread("t").put({ id: "b", update: { set: { n: 7 } }, createdAt: 2 });
    await other.thread("t").put({ id: "b", state: { n: 2, text: "as it was" }, createdAt: 2 });
    expect(await other.import(store.export())).toEqual({ imported: 0, unchanged: 1, checkpoints: 2 });
    expect(await store.import(other.export())).toEqual({ imported: 0, unchanged: 1, checkpoints: 2 });
  });

  it("bundles find a thread unchanged however its checkpoints are stored, and leave newer writes", async () => {
    const store = await filled();
    const lines = await linesOf(store);
    const head = (await store.thread("fork").latest()) ?? expect.unreachable();
    // Stored as a replacement of what it was.
    const { id, state, createdAt, node, metadata, path } = head;
    await store.thread("fork").put({ id, state, createdAt, node, metadata, path });
    const write = (value: string) =>
      store.thread("main").putWrites("own", { task: "t", writes: [{ channel: "c", value, index: -4 }] });
    await write("old");
    const later = await linesOf(store);
    await write("new");
    for (const bundle of [lines, later])
      expect(await store.import(bundle)).toMatchObject({ imported: 0, unchanged: 2 });
    expect((await store.thread("main").writes("own")).map(({ value }) => value)).toEqual(["new"]);
  });

  it("bundles are taken by threads whose checkpoints were all deleted, forks too, and other stores see it", async () => {
    const backend = memory();
    const store = await open<Any>(sharedBackend(backend));
    const other = await open<Any>(sharedBackend(backend));
    for (const id of ["a", "b", "c"]) await store.thread("main").put({ id, state: { id } });
    await store.thread("main").fork({ into: "fork" });
    const lines = await linesOf(store);
    const before = await everything(store);
    for (const id of ["main", "fork"]) expect(await other.thread(id).deleteCheckpoints(["a", "b", "c"])).toBe(3);
    expect(await store.import(lines)).toMatchObject({ imported: 2 });
    expect(await everything(store)).toEqual(before);
    expect(await everything(other)).toEqual(before);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
  });

  it("bundles keep the node of every write", async () => {
    const store = await open<Any>("memory:");
    await store.thread("t").put({ id: "a", state: {} });
    for (const node of ["first", "second"]) {
      const writes = [{ channel: "c", value: node, index: node.length }];
      await store.thread("t").putWrites("a", { task: "k", node, writes });
    }
    const other = await open<Any>("memory:");
    await other.import(await linesOf(store));
    expect(await other.thread("t").writes("a")).toEqual(await store.thread("t").writes("a"));
  });
});
