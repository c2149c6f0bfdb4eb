import { describe, expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { type OpenOptions, open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";

type Free = Record<string, unknown>;

const LIMIT = 10_000;
const large = "x".repeat(LIMIT);
const half = "y".repeat(LIMIT / 2);

/** Values that are large stay in their checkpoints here. */
const whole = { largeValues: { from: Number.POSITIVE_INFINITY } } as const;

const refusal = { code: "TOO_LARGE", thread: "t", limit: LIMIT };

async function small(options: OpenOptions = {}): Promise<Store<Free>> {
  const store = await open<Free>("memory:", { checkpointBytes: LIMIT, ...whole, ...options });
  await store.thread("t").put({ id: "a", state: { list: [half], text: half.slice(0, -500), n: 0 }, step: 1 });
  return store;
}

const refused: Record<string, (store: Store<Free>) => Promise<unknown>> = {
  "a state with one large value": (store) => store.thread("t").put({ state: { large } }),
  "a state of many values": (store) =>
    store.thread("t").put({ state: { list: Array(600).fill("twenty characters...") } }),
  "a state of characters that take three bytes each": (store) =>
    store.thread("t").put({ state: { text: "€".repeat(4_000) } }),
  "a list that has grown": (store) => store.thread("t").put({ update: { append: { list: [half] } } }),
  "a text that has grown": (store) => store.thread("t").put({ update: { append: { text: half } } }),
  "a field beside others": (store) => store.thread("t").put({ update: { set: { other: half } } }),
  metadata: (store) => store.thread("t").put({ update: { set: { n: 1 } }, metadata: { large } }),
  "what comes next": (store) => store.thread("t").put({ update: {}, next: [{ node: "a", arg: half }] }),
  "a label": (store) => store.thread("t").label("a", large),
  "a replaced checkpoint": (store) => store.thread("t").put({ id: "a", state: { large } }),
  "a write": (store) => store.thread("t").putWrites("a", { task: "w", writes: [{ channel: "c", value: large }] }),
  "writes of one task together": (store) =>
    store.thread("t").putWrites("a", {
      task: "w",
      writes: [
        { channel: "c", value: half },
        { channel: "d", value: half },
      ],
    }),
  "an edited fork": (store) => store.thread("t").fork({ into: "f", edits: { other: half } }),
  "an edit of a fork": (store) => store.thread("t").fork({ into: "f", edits: { large } }),
};

describe.each([
  ["with the tree at hand", {}],
  ["with room for outlines only", { cacheBytes: 0 }],
])("Beyond the limit of a checkpoint, %s,", (_, options) => {
  test.each(Object.entries(refused))("%s is TOO_LARGE, and nothing is written", async (__, put) => {
    const store = await small(options);
    const before = await store.measure();
    await expect(put(store)).rejects.toMatchObject(refusal);
    expect((await store.measure()).bytes).toEqual(before.bytes);
    expect((await store.thread("t").latest())?.id).toBe("a");
    expect(await store.thread("f").latest()).toBeUndefined();
    await store.thread("t").put({ update: { set: { n: 1 } } });
    expect((await store.thread("t").latest())?.state).toMatchObject({ n: 1 });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
  });
});

test("The error of a state that is too large names the thread, the size and the limit.", async () => {
  const store = await small();
  const error = await store
    .thread("t")
    .put({ state: { large } })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ bytes: expect.any(Number) });
  expect((error as { bytes: number }).bytes).toBeGreaterThan(LIMIT);
  expect(String(error)).toMatch(/Thread "t": the checkpoint takes 10,\d{3} bytes, and at most 10,000 can be stored/);
});

test("Changes that wait with one that is too large are committed.", async () => {
  const store = await small();
  const [thread, other] = [store.thread("t"), store.thread("other")];
  const outcomes = await Promise.allSettled([
    thread.put({ id: "b", update: { set: { n: 1 } } }),
    thread.put({ id: "c", update: { set: { large } } }),
    thread.putWrites("a", { task: "w", writes: [{ channel: "c", value: large }] }),
    other.put({ id: "d", state: { n: 1 } }),
    thread.put({ id: "e", update: { set: { n: 2 } } }),
    thread.putWrites("a", { task: "w", writes: [{ channel: "c", value: 1 }] }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...["fulfilled", "rejected", "rejected", "fulfilled", "fulfilled", "fulfilled"],
  ]);
  expect((await thread.latest())?.state).toMatchObject({ n: 2 });
  expect(await thread.writes("a")).toMatchObject([{ channel: "c", value: 1 }]);
});

test("A state that stays within the limit can be overwritten for ever, and pruned.", async () => {
  const store = await open<Free>("memory:", { checkpointBytes: LIMIT, packBytes: 4_000, ...whole });
  const thread = store.thread("t");
  for (let n = 0; n < 200; n += 1) await thread.put({ update: { set: { blob: `${n}`.padEnd(9_000, "z"), n } } });
  expect(await thread.prune({ keepLast: 5 })).toMatchObject({ deleted: 195 });
  expect((await thread.latest())?.state).toMatchObject({ n: 199 });
});

test("A thread whose state was larger than the limit when it was put reads, and takes a smaller state.", async () => {
  const { backend } = counted(memory());
  const before = await open<Free>(backend, whole);
  await before.thread("t").put({ id: "a", state: { text: large } });
  await before.thread("t").put({ id: "b", update: { append: { text: large } } });
  const store = await open<Free>(backend, { checkpointBytes: LIMIT, ...whole });
  const thread = store.thread("t");
  expect((await thread.get("b"))?.state).toEqual({ text: large + large });
  await expect(thread.put({ update: { set: { n: 1 } } })).rejects.toMatchObject(refusal);
  await thread.put({ id: "c", state: { n: 1 } });
  expect(await thread.prune({ keepLast: 2 })).toMatchObject({ deleted: 1 });
  expect((await thread.get("b"))?.state).toEqual({ text: large + large });
  expect((await thread.latest())?.state).toEqual({ n: 1 });
});

test("A bundle with a checkpoint that is too large is refused, and nothing of its thread is imported.", async () => {
  const source = await open<Free>("memory:", whole);
  await source.thread("t").put({ state: { n: 0 } });
  await source.thread("t").put({ state: { large } });
  const store = await open<Free>("memory:", { checkpointBytes: LIMIT, ...whole });
  await expect(store.import(source.export())).rejects.toMatchObject(refusal);
  expect(await store.thread("t").count()).toBe(0);
});

test("Bytes that no record can hold as text are TOO_LARGE, with their path.", async () => {
  const store = await open<Free>("memory:", whole);
  const bytes = new Uint8Array(420_000_000);
  await expect(store.thread("t").put({ state: { files: [{ bytes }] } })).rejects.toMatchObject({
    code: "TOO_LARGE",
    path: "state.files[0].bytes",
  });
  expect(await store.thread("t").count()).toBe(0);
});
