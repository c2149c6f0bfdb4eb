import { expect, test } from "vitest";
import type { Store } from "../../../src/api/store.ts";
import { renamed, snapshot } from "../../../src/testing/support/snapshot.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { type Free, onEveryBackend } from "./stores.ts";

/** A line of checkpoints c1, c2, …, each with its number. */
async function line(store: Store<Free>, thread: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n++)
    await store.thread(thread).put({ id: `c${n}`, state: { n, list: Array(n).fill(n) } });
}

onEveryBackend("tinyagents", ({ fresh }) => {
  test("tinyagents 1: latest, get by id, and unknown is undefined", async () => {
    const store = await fresh();
    await line(store, "t", 2);
    const thread = store.thread("t");
    expect((await thread.latest())?.id).toBe("c2");
    expect((await thread.get("c1"))?.state).toEqual({ n: 1, list: [1] });
    expect(await thread.get("c9")).toBeUndefined();
  });

  test("tinyagents 2: history is newest first with parents linked; a source outside the four is refused", async () => {
    const store = await fresh();
    await line(store, "t", 3);
    const thread = store.thread("t");
    expect((await collect(thread.history())).map(({ id, parent }) => [id, parent])).toEqual([
      ["c3", "c2"],
      ["c2", "c1"],
      ["c1", null],
    ]);
    await expect(thread.put({ state: {}, source: "other" as never })).rejects.toThrow(TypeError);
    for (const source of ["input", "loop", "update", "fork"] as const) {
      expect((await thread.put({ state: {}, source })).source).toBe(source);
    }
  });

  test("tinyagents 3: a tuple names its parent; a root has none; unknown is undefined", async () => {
    const store = await fresh();
    await line(store, "t", 2);
    const thread = store.thread("t");
    expect((await thread.tuple("c2"))?.parent).toEqual({ thread: "t", namespace: [], id: "c1" });
    expect((await thread.tuple("c1"))?.parent).toBeNull();
    expect(await thread.tuple("c9")).toBeUndefined();
  });

  test("tinyagents 4: a deleted thread, and one whose last checkpoint went, is not listed", async () => {
    const store = await fresh();
    for (const id of ["a", "b", "c"]) await line(store, id, 1);
    await store.thread("a").delete();
    await store.thread("c").deleteCheckpoints(["c1"]);
    expect((await collect(store.threads())).map(({ id }) => id)).toEqual(["b"]);
  });

  test("tinyagents 5: deleteCheckpoints counts, passes over unknown ids, and the rest keeps its state", async () => {
    const store = await fresh();
    await line(store, "t", 3);
    const thread = store.thread("t");
    expect(await thread.deleteCheckpoints(["c1", "zz"])).toBe(1);
    expect(await thread.deleteCheckpoints([])).toBe(0);
    expect((await thread.get("c2"))?.state).toEqual({ n: 2, list: [2, 2] });
    expect((await thread.get("c3"))?.state).toEqual({ n: 3, list: [3, 3, 3] });
  });

  test("tinyagents 6: deleteRun removes only that run's; those without a run never match", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ id: "a", state: {} });
    await thread.put({ id: "b", state: {}, run: "r1" });
    await thread.put({ id: "c", state: {}, run: "r2" });
    await thread.put({ id: "d", state: {}, run: "r1" });
    expect(await thread.deleteRun("r1")).toBe(2);
    expect(await idsOf(thread.history())).toEqual(["c", "a"]);
    expect(await thread.deleteRun("null")).toBe(0);
    await expect(thread.deleteRun(undefined as never)).rejects.toThrow(TypeError);
    expect(await thread.count()).toBe(2);
  });

  test("tinyagents 7: copy keeps ids and parents, and both sides go their own way", async () => {
    const store = await fresh();
    await line(store, "t", 3);
    const before = await snapshot(store, "t");
    const copied = await store.thread("t").copy("other");
    expect(await snapshot(store, "other")).toEqual(renamed(before, "other"));
    expect(await snapshot(store, "t")).toEqual(before);
    await copied.put({ id: "x", state: {} });
    await store.thread("t").put({ id: "y", state: {} });
    expect(await idsOf(copied.history())).toEqual(["x", "c3", "c2", "c1"]);
    expect(await idsOf(store.thread("t").history())).toEqual(["y", "c3", "c2", "c1"]);
    expect([await copied.count(), await store.thread("t").count()]).toEqual([4, 4]);
    await expect(store.thread("t").copy("other")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.thread("nobody").copy("new")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("tinyagents 8: prune with protected ancestors", async () => {
    const store = await fresh();
    await line(store, "line", 5);
    expect((await store.thread("line").prune({ keepLast: 2, ancestors: "protect" })).deleted).toBe(0);
    const thread = store.thread("t");
    await thread.put({ id: "c1", state: {} });
    await thread.put({ id: "b2", state: {} }, { parent: "c1" });
    await thread.put({ id: "m2", state: {} }, { parent: "c1" });
    await thread.put({ id: "m3", state: {} }, { parent: "m2" });
    expect((await thread.prune({ keepLast: 1, ancestors: "protect" })).deleted).toBe(1);
    expect(await idsOf(thread.history())).toEqual(["m3", "m2", "c1"]);
    expect((await store.thread("line").prune({ keepLast: 0 })).deleted).toBe(4);
    expect(await idsOf(store.thread("line").history())).toEqual(["c5"]);
    expect((await store.thread("nobody").prune({ keepLast: 2, ancestors: "protect" })).deleted).toBe(0);
  });

  test("tinyagents 9: prune truncates; what is left reads as before, the oldest is a root", async () => {
    const store = await fresh();
    await line(store, "t", 5);
    const thread = store.thread("t");
    const before = [(await thread.get("c4"))?.state, (await thread.get("c5"))?.state];
    expect((await thread.prune({ keepLast: 2 })).deleted).toBe(3);
    expect([(await thread.get("c4"))?.state, (await thread.get("c5"))?.state]).toEqual(before);
    expect([(await thread.get("c4"))?.parent, (await thread.get("c5"))?.parent]).toEqual([null, "c4"]);
  });

  test("tinyagents 10: prune keeps each namespace's newest", async () => {
    const store = await fresh();
    for (const namespace of [[], ["a"], ["b"]]) {
      for (const n of [1, 2, 3]) await store.thread("t", { namespace }).put({ id: `c${n}`, state: { n } });
    }
    expect((await store.thread("t").prune({ keepLast: 1 })).deleted).toBe(6);
    for (const namespace of [[], ["a"], ["b"]])
      expect(await idsOf(store.thread("t", { namespace }).history())).toEqual(["c3"]);
  });

  test("tinyagents 11: an id put again is the last write; children keep their state", async () => {
    const store = await fresh();
    await line(store, "t", 3);
    const thread = store.thread("t");
    await thread.put({ id: "c2", state: { other: true } });
    expect((await thread.get("c2"))?.state).toEqual({ other: true });
    expect((await thread.get("c3"))?.state).toEqual({ n: 3, list: [3, 3, 3] });
    expect(await idsOf(thread.history())).toEqual(["c3", "c2", "c1"]);
  });

  test("tinyagents 12: data writes are kept, control writes replaced, early writes wait for their checkpoint", async () => {
    const thread = (await fresh()).thread("t");
    const write = (value: unknown, index?: number) => ({
      task: "t1",
      node: "act",
      writes: [{ channel: "c", value, ...(index === undefined ? {} : { index }) }],
    });
    await thread.putWrites("c1", write("early"));
    await thread.put({ id: "c1", state: {} });
    expect(await thread.putWrites("c1", write("again"))).toEqual({ stored: 0, ignored: 1 });
    expect(await thread.putWrites("c1", write("error 1", -1))).toEqual({ stored: 1, ignored: 0 });
    expect(await thread.putWrites("c1", write("error 2", -1))).toEqual({ stored: 1, ignored: 0 });
    expect((await thread.writes("c1")).map(({ index, value }) => [index, value])).toEqual([
      [-1, "error 2"],
      [0, "early"],
    ]);
    await expect(thread.putWrites(undefined as never, write(1))).rejects.toThrow(TypeError);
  });
});
