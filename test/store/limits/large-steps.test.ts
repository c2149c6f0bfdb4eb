import { describe, expect, test } from "vitest";
import type { Backend, Batch, Entry } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const path = folderForEach();

interface Work {
  readonly blob: string;
  readonly list: readonly string[];
  readonly n: number;
}

const PACK = 20_000;
const STEP = 9_000;
/** Values that are large stay in their steps here. */
const whole = { largeValues: { from: Number.POSITIVE_INFINITY } } as const;
const options = { packBytes: PACK, ...whole } as const;

const text = (n: number, length: number): string => `${n}:`.padEnd(length, String.fromCharCode(97 + (n % 26)));

/** A backend that tells what is committed to it, and outlives the stores that are opened on it. */
function watched(): { readonly backend: Backend; readonly batches: Batch[] } {
  const inner = memory();
  const batches: Batch[] = [];
  const backend = sharedBackend(inner, {
    commit: (given) => {
      batches.push(...given);
      return inner.commit(given);
    },
  });
  return { backend, batches };
}

const entriesOf = (batch: Batch): readonly Entry[] => [...(batch.inserts ?? []), ...(batch.puts ?? [])];
const lengthOf = (batch: Batch): number => entriesOf(batch).reduce((sum, { value }) => sum + value.length, 0);

/** Puts the 0th to the last state; every third step is small, every tenth larger than a pack may be. */
async function work(store: Store<Work>, steps: number): Promise<Map<string, Work>> {
  const thread = store.thread("t");
  const states = new Map<string, Work>();
  let state: Work = { blob: "", list: [], n: 0 };
  for (let n = 0; n < steps; n += 1) {
    const blob = text(n, n % 3 === 2 ? 10 : n % 10 === 9 ? 2 * PACK : STEP);
    if (n === 0 || n % 7 === 6) {
      state = { ...state, blob, n };
      await thread.put({ id: `c${n}`, state });
    } else if (n % 2 === 0) {
      state = { ...state, list: [...state.list, blob], n };
      await thread.put({ id: `c${n}`, update: { append: { list: [blob] }, set: { n } } });
    } else {
      state = { ...state, blob, n };
      await thread.put({ id: `c${n}`, update: { set: { blob, n } } });
    }
    states.set(`c${n}`, state);
  }
  return states;
}

async function expectExact(store: Store<Work>, states: ReadonlyMap<string, Work>): Promise<void> {
  const thread = store.thread("t");
  const seen: string[] = [];
  for await (const { id, state } of thread.history({ states: true })) {
    expect(state, id).toEqual(states.get(id));
    seen.push(id);
  }
  expect(seen).toEqual([...states.keys()].reverse());
  for (const [id, state] of states) expect((await thread.get(id))?.state, id).toEqual(state);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
}

describe("large steps", () => {
  test("Steps that are large for a pack are sealed a bounded number of bytes at a time, by the put that seals and by each later one", async () => {
    const { backend, batches } = watched();
    const store = await open<Work>(backend, options);
    const states = await work(store, 150);
    const tail = batches.flatMap(entriesOf).filter(({ key }) => key.table === "tail");
    const row = Math.max(...tail.map(({ value }) => value.length));
    // A seal beside the puts takes at most what has gathered meanwhile, four packs, and rows that are one by themselves.
    for (const batch of batches) expect(lengthOf(batch)).toBeLessThan(4 * PACK + 3 * row + 8_000);
    await expectExact(store, states);
    await expectExact(await open<Work>(backend, options), states);
  });

  test("Steps that are large for a pack make packs none of which is larger than the bound unless it has one row", async () => {
    const { backend, batches } = watched();
    await work(await open<Work>(backend, options), 150);
    const packs = batches.flatMap(entriesOf).filter(({ key }) => key.table === "steps");
    expect(packs.length).toBeGreaterThan(20);
    for (const { value } of packs) expect(value.length).toBeLessThan(PACK + 4_000);
  });

  test.each(["memory", "sqlite", "file"] as const)(
    "Steps that are large for a pack read back on %s after pruning, deleting, replacing, compacting, closing and importing",
    async (kind) => {
      const url = kind === "memory" ? "memory:" : `${kind}:${path(`${kind}-store`)}`;
      let store = await open<Work>(url, options);
      const states = await work(store, 90);
      const thread = store.thread("t");
      await thread.fork({ at: "c40", into: "fork" });
      const forked = await store.thread("fork").latest();
      const replaced: Work = { blob: text(50, STEP), list: [], n: -1 };
      await thread.put({ id: "c50", state: replaced });
      states.set("c50", replaced);
      const gone = ["c31", "c45", "c46", "c47", "c60"];
      expect(await thread.deleteCheckpoints(gone)).toBe(gone.length);
      for (const id of gone) states.delete(id);
      await expectExact(store, states);
      if (kind !== "memory") {
        await store.close();
        store = await open<Work>(url, options);
        await expectExact(store, states);
      }
      await store.thread("t").prune({ keepLast: 60 });
      for (const id of [...states.keys()].slice(0, -60)) states.delete(id);
      await expectExact(store, states);
      await store.compact();
      await expectExact(store, states);
      expect((await store.thread("fork").latest())?.state).toEqual(forked?.state);
      const copy = await open<Work>("memory:", options);
      await copy.import(store.export());
      await expectExact(copy, states);
      await copy.close();
      await store.close();
    },
  );

  test("Steps that are large for a pack are written into the packs and the tail that a store without this bound has left", async () => {
    const { backend, batches } = watched();
    const before = await work(await open<Work>(backend, { packBytes: 2 ** 30, ...whole }), 120);
    const store = await open<Work>(backend, options);
    batches.length = 0;
    const state: Work = { blob: "", list: [], n: 120 };
    await store.thread("t").put({ id: "c120", state });
    await store.thread("t").put({ id: "c121", state });
    const packs = batches.flatMap(entriesOf).filter(({ key }) => key.table === "steps");
    expect(packs.length).toBeGreaterThan(5);
    for (const { value } of packs) expect(value.length).toBeLessThan(PACK + 4_000);
    await expectExact(store, new Map([...before, ["c120", state], ["c121", state]]));
  });

  test("Large steps share a commit only as long as it stays small", async () => {
    const { backend, batches } = watched();
    const store = await open<Work>(backend, whole);
    const thread = store.thread("t");
    await thread.put({ state: { blob: "", list: [], n: 0 } });
    batches.length = 0;
    const blob = (n: number): string => String(n).repeat(6_000_000);
    await Promise.all(Array.from({ length: 9 }, (_, n) => thread.put({ update: { set: { blob: blob(n) } } })));
    expect(batches.length).toBeGreaterThanOrEqual(3);
    expect(await thread.count()).toBe(10);
    expect((await thread.latest())?.state.blob[0]).toBe("8");
  });

  test("A checkpoint among many large ones is read without most of the others.", async () => {
    const { backend, taken } = counted(memory());
    const writer = await open<Work>(backend, whole);
    const length = 4_500_000;
    for (let n = 0; n < 20; n += 1)
      await writer.thread("t").put({ id: `c${n}`, update: { set: { blob: text(n, length) } } });
    const store = await open<Work>(backend, whole);
    taken();
    expect((await store.thread("t").get("c15"))?.state.blob).toBe(text(15, length));
    expect(taken().bytes).toBeLessThan(10 * length);
  });
});
