import { expect, test } from "vitest";
import { snapshot } from "../../../src/testing/support/snapshot.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { onEveryBackend } from "./stores.ts";

onEveryBackend("atomr", ({ fresh }) => {
  test("atomr 1: steps 0 and 2: the latest is step 2, its values intact", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ state: { a: 1, list: [1, { b: null }] }, step: 0 });
    await thread.put({ state: { a: 2, list: [2, { b: "é" }] }, step: 2 });
    const latest = await thread.latest();
    expect([latest?.step, latest?.state]).toEqual([2, { a: 2, list: [2, { b: "é" }] }]);
  });

  test("atomr 2: a fork with edits and no history is one checkpoint; the source is unchanged", async () => {
    const store = await fresh();
    const main = store.thread("main");
    for (const step of [0, 1, 2]) await main.put({ state: { a: step, b: "kept" }, step, workflow: "w" });
    const before = await snapshot(store, "main");
    const forked = await main.fork({ at: { step: 1 }, edits: { a: 99 }, history: "none" });
    expect(await forked.count()).toBe(1);
    const only = await forked.latest();
    expect([only?.state, only?.workflow, only?.step, only?.label, only?.source]).toEqual([
      { a: 99, b: "kept" },
      "w",
      1,
      "fork-of:main",
      "fork",
    ]);
    expect(await snapshot(store, "main")).toEqual(before);
  });

  test("atomr 3: four steps make a history of four, and the workflow finds the thread", async () => {
    const store = await fresh();
    for (let step = 0; step < 4; step++) await store.thread("t").put({ state: { step }, workflow: "w" });
    await store.thread("other").put({ state: {}, workflow: "v" });
    expect(await idsOf(store.thread("t").history())).toHaveLength(4);
    expect((await collect(store.threads({ workflow: "w" }))).map(({ id }) => id)).toEqual(["t"]);
  });

  test("atomr 4: what is missing is undefined or empty; a fork of it is NOT_FOUND, and no thread is made", async () => {
    const store = await fresh();
    const nobody = store.thread("nobody");
    expect([await nobody.latest(), await nobody.get("x"), await nobody.get({ step: 0 })]).toEqual(
      Array(3).fill(undefined),
    );
    expect(await idsOf(nobody.history())).toEqual([]);
    await expect(nobody.fork({ into: "f" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(nobody.fork({ at: { step: 0 }, edits: { a: 1 }, history: "none" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await collect(store.threads())).toEqual([]);
  });

  test("atomr 5: one run id under two workflows is isolated: the thread's id holds both", async () => {
    const store = await fresh();
    for (const workflow of ["w1", "w2"]) {
      await store.thread(`${workflow}/run-1`).put({ state: { workflow }, run: "run-1", workflow });
    }
    expect((await store.thread("w1/run-1").latest())?.state).toEqual({ workflow: "w1" });
    expect((await collect(store.threads({ workflow: "w2" }))).map(({ id }) => id)).toEqual(["w2/run-1"]);
    await store.thread("w1/run-1").delete();
    expect((await store.thread("w2/run-1").latest())?.state).toEqual({ workflow: "w2" });
  });

  test("atomr 6: an absent label is the empty string", async () => {
    const thread = (await fresh()).thread("t");
    const put = await thread.put({ state: {} });
    expect(put.label).toBe("");
    expect((await thread.latest())?.label).toBe("");
    expect((await thread.put({ state: {}, label: "mine" })).label).toBe("mine");
  });
});
