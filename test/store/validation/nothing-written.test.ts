import { readdir } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { unstorable } from "../../../src/testing/support/values.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

type Free = Record<string, unknown>;

const inFolder = folderForEach();
let store: Store<Free>;
beforeEach(async () => {
  store = await open<Free>(`sqlite:${inFolder("store.db")}`);
});
afterEach(async () => {
  await store.close();
});

const refused: Record<string, (from: Store<Free>) => Promise<unknown>> = {
  "an empty id": async (from) => from.thread("").put({ state: {} }),
  "an id with NUL": async (from) => from.thread("a\0").put({ state: {} }),
  "an id of 513 bytes": async (from) => from.thread("x".repeat(513)).put({ state: {} }),
  "a checkpoint id of 513 bytes": (from) => from.thread("t").put({ id: "x".repeat(513), state: {} }),
  "a namespace that is no list": async (from) => from.thread("t", { namespace: "a" as never }).put({ state: {} }),
  "half a step": (from) => from.thread("t").put({ state: {}, step: 0.5 }),
  "an unsafe step": (from) => from.thread("t").put({ state: {}, step: 2 ** 53 }),
  "an unknown source": (from) => from.thread("t").put({ state: {}, source: "other" as never }),
  "neither state nor update": (from) => from.thread("t").put({} as never),
  "state and update": (from) => from.thread("t").put({ state: {}, update: {} } as never),
  "an append to a missing key": (from) => from.thread("t").put({ update: { append: { list: [1] } as never } }),
  "a key in two groups": (from) => from.thread("t").put({ update: { set: { a: 1 }, unset: ["a"] } }),
  "an unknown parent": (from) => from.thread("t").put({ state: {} }, { parent: "nobody" }),
  "a wrong expectation": (from) => from.thread("t").put({ state: {} }, { expect: "nobody" }),
  "a forged lease": (from) => from.thread("t").put({ state: {} }, { lease: { thread: "t", holder: "h", epoch: 7 } }),
  "another thread's lease": async (from) => {
    const token = { thread: "other", holder: "h", epoch: 1 };
    return from.thread("t").put({ state: {} }, { lease: token });
  },
  "a fork of nothing": (from) => from.thread("t").fork({ into: "f" }),
  "a copy of nothing": (from) => from.thread("t").copy("k"),
  "a label of nothing": (from) => from.thread("t").label("a", "l"),
  "writes without a list": (from) => from.thread("t").putWrites("a", { task: "t" } as never),
  "a write with half an index": (from) =>
    from.thread("t").putWrites("a", { task: "t", writes: [{ channel: "c", value: 1, index: 0.5 }] }),
  "a lease without an end": (from) => from.thread("t").acquire({ holder: "h", ttl: Number.POSITIVE_INFINITY }),
  "a prune of less than nothing": (from) => from.thread("t").prune({ keepLast: -1 }),
  ...Object.fromEntries(
    Object.entries(unstorable()).map(([name, value]) => [
      `a state with ${name}`,
      (from: Store<Free>) => from.thread("t").put({ state: { deep: [{ value }] } }),
    ]),
  ),
};

test.each(Object.entries(refused))("%s is refused, and no file is made for it", async (_, call) => {
  await expect(call(store)).rejects.toBeInstanceOf(Error);
  expect(await readdir(inFolder())).toEqual([]);
});

test.each(Object.entries(refused))("%s is refused, and the store takes no byte more", async (_, call) => {
  const backend = memory();
  const filled = await open<Free>(backend);
  await filled.thread("elsewhere").put({ state: { n: 1 } });
  const before = await backend.size();
  await expect(call(filled)).rejects.toBeInstanceOf(Error);
  expect(await backend.size()).toEqual(before);
  await filled.close();
});
