import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { locations } from "../../support/places.ts";
import { onEveryBackend } from "./stores.ts";

onEveryBackend("flowgentra", ({ fresh }) => {
  test("flowgentra 1: the latest of an unknown thread is undefined", async () => {
    expect(await (await fresh()).thread("nobody").latest()).toBeUndefined();
  });

  test("flowgentra 2: the latest is the last put, and history has both, newest first", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ state: { n: 1 } });
    await thread.put({ state: { n: 2 } });
    expect((await thread.latest())?.state).toEqual({ n: 2 });
    const states = await collect(thread.history({ states: true }));
    expect(states.map((one) => (one as unknown as { state: unknown }).state)).toEqual([{ n: 2 }, { n: 1 }]);
  });

  test("flowgentra 3: node, path and metadata come back; absent metadata is {}", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ state: {}, node: "draft", metadata: { user: "u", tags: [1, null] } });
    await thread.put({ state: {}, node: "publish" });
    const first = await thread.get({ step: 0 });
    expect([first?.node, first?.path, first?.metadata]).toEqual(["draft", ["draft"], { user: "u", tags: [1, null] }]);
    const second = await thread.latest();
    expect([second?.node, second?.path, second?.metadata]).toEqual(["publish", ["draft", "publish"], {}]);
  });

  test("flowgentra 4: mutating what was passed to put, or what it returned, changes nothing stored", async () => {
    const thread = (await fresh()).thread("t");
    const state = { list: [{ n: 1 }] };
    await thread.put({ state });
    state.list.push({ n: 2 });
    const read = await thread.latest();
    (read?.state.list as { n: number }[]).length = 0;
    expect((await thread.latest())?.state).toEqual({ list: [{ n: 1 }] });
  });

  test("flowgentra 5: both threads are listed, and putting into one leaves the other", async () => {
    const store = await fresh();
    await store.thread("a").put({ state: { n: 1 } });
    await store.thread("b").put({ state: { n: 2 } });
    await store.thread("a").put({ state: { n: 3 } });
    expect((await collect(store.threads())).map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await store.thread("b").latest())?.state).toEqual({ n: 2 });
    expect(await store.thread("b").count()).toBe(1);
  });

  test("flowgentra 6: a state that cannot be serialized is SERIALIZE with its path; the head is unchanged", async () => {
    const thread = (await fresh()).thread("t");
    const { id } = await thread.put({ state: { n: 1 } });
    await expect(thread.put({ state: { messages: [1, { callback: () => 1 }] } })).rejects.toMatchObject({
      code: "SERIALIZE",
      path: "state.messages[1].callback",
    });
    expect((await thread.latest())?.id).toBe(id);
    expect(await thread.count()).toBe(1);
  });

  test("flowgentra 7: delete empties the history and the list; deleting again is fine", async () => {
    const store = await fresh();
    const thread = store.thread("t");
    await thread.put({ state: {} });
    await thread.delete();
    expect(await idsOf(thread.history())).toEqual([]);
    expect(await collect(store.threads())).toEqual([]);
    await thread.delete();
  });

  test("flowgentra 8: two namespaces of one thread are isolated, and parts never run into thread ids", async () => {
    const store = await fresh();
    const places = [
      store.thread("t"),
      store.thread("t", { namespace: ["a"] }),
      store.thread("b:c", { namespace: ["a"] }),
      store.thread("c", { namespace: ["a", "b"] }),
    ];
    for (const [n, thread] of places.entries()) await thread.put({ state: { n } });
    for (const [n, thread] of places.entries()) {
      expect((await thread.latest())?.state).toEqual({ n });
      expect(await thread.count()).toBe(1);
    }
  });

  test("flowgentra 9: paths, devices, emoji and 512 bytes are ordinary ids; empty, NUL and 513 bytes are refused", async () => {
    const store = await fresh();
    const ids = ["../escape", "/etc/x", "a/b", "x".repeat(512), "CON", "\u{1f600}"];
    for (const id of ids) await store.thread(id).put({ state: { id } });
    for (const id of ids) expect((await store.thread(id).latest())?.state).toEqual({ id });
    expect((await collect(store.threads())).map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const id of ["", "a\0b", "x".repeat(513)]) expect(() => store.thread(id)).toThrow(TypeError);
  });

  test("flowgentra 10: a run on a finished thread: its input is used, it is the latest, steps go on", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ state: { question: "one" }, source: "input", run: "r1", next: ["a"] });
    await thread.put({ state: { question: "one", answer: 1 }, run: "r1" });
    const input = await thread.put({ state: { question: "two" }, source: "input", run: "r2", next: ["a"] });
    expect(input.step).toBe(2);
    await thread.put({ state: { question: "two", answer: 2 } });
    const latest = await thread.latest();
    expect([latest?.run, latest?.step, latest?.state]).toEqual(["r2", 3, { question: "two", answer: 2 }]);
  });

  test("flowgentra 14: the state's version is stored with each checkpoint and returned", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ id: "old", state: {}, stateVersion: 1 });
    await thread.put({ id: "new", state: {}, stateVersion: 2 });
    await thread.put({ id: "next", state: {} });
    const versions = (await collect(thread.history())).map(({ id, stateVersion }) => [id, stateVersion]);
    expect(versions).toEqual([
      ["next", 2],
      ["new", 2],
      ["old", 1],
    ]);
    expect((await thread.get("old"))?.stateVersion).toBe(1);
  });
});

const onDisk = locations.filter(({ name }) => name === "sqlite" || name === "file");

test.each(onDisk)("flowgentra 9: on $name, ids put nothing outside the store's directory", async (backend) => {
  const place = await backend.make();
  const path = String(place.url).slice(String(place.url).indexOf(":") + 1);
  const around = dirname(path);
  const before = (await readdir(dirname(around))).length;
  const store = await open(place.url, place.options);
  for (const id of ["../escape", "../../escape", "/tmp/escape", "a/b/c"]) await store.thread(id).put({ state: {} });
  const files = await readdir(around, { recursive: true });
  expect(files.filter((file) => file.includes("escape"))).toEqual([]);
  expect((await readdir(dirname(around))).filter((file) => file.startsWith("escape"))).toEqual([]);
  expect(before).toBeGreaterThan(0);
  await store.close();
  await place.cleanup();
});
