import { expect, test } from "vitest";
import type { Backend, Batch, Entry } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { open, type Store } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { seals } from "../../support/seals.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

interface Talk {
  messages: string[];
  turn: number;
}

const packTables: readonly string[] = ["rows", "net", "steps"];
const packsOf = ({ inserts = [] }: Batch): readonly Entry[] =>
  inserts.filter(({ key }) => packTables.includes(key.table));

/** A backend that outlives its stores, and shows every batch that it applies before it does. */
function watched(onBatch: (batch: Batch) => void): { readonly backend: Backend; readonly inner: Backend } {
  const inner = memory();
  const backend = sharedBackend(inner, {
    async commit(batches) {
      for (const batch of batches) onBatch(batch);
      return inner.commit(batches);
    },
  });
  return { backend, inner };
}

async function put(store: Store<Talk>, turn: number): Promise<void> {
  const thread = store.thread("t");
  if (turn === 0) await thread.put({ state: { messages: [], turn } });
  else await thread.put({ update: { append: { messages: [`message ${turn}`] }, set: { turn } } });
}

async function expectExact(backend: Backend, count: number): Promise<void> {
  const store = await open<Talk>(backend);
  const shown = await collect(store.thread("t").history({ states: true }));
  expect(shown.map(({ state }) => state.turn)).toEqual(Array.from({ length: count }, (_, turn) => count - 1 - turn));
  for (const { state } of shown) expect(state.messages.length).toBe(state.turn);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
}

/** Counts the unsealed rows in the backend. */
async function tailOf(backend: Backend): Promise<number> {
  return (await backend.size()).tables.tail.records;
}

test("no put carries a pack: rows are sealed by commits of their own, after the put was answered", async () => {
  const batches: Batch[] = [];
  const { backend, inner } = watched((batch) => batches.push(batch));
  const store = await open<Talk>(backend);
  for (let turn = 0; turn < 150; turn += 1) {
    const before = batches.length;
    await put(store, turn);
    expect(packsOf(batches[before] as Batch)).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await seals();
  const seal = batches.filter((batch) => packsOf(batch).length > 0);
  expect(seal.length).toBe(2);
  for (const { inserts = [] } of seal)
    expect(inserts.every(({ key }) => packTables.includes(key.table as string))).toBe(true);
  expect(await tailOf(inner)).toBe(150 - 2 * 64);
  await expectExact(backend, 150);
});

test("a loop of puts that leaves the event loop no turn is sealed all the same", async () => {
  const { backend, inner } = watched(() => undefined);
  const store = await open<Talk>(backend);
  await import("../../../src/engine/commits/sealer.ts");
  let turns = 0;
  const immediate = setImmediate(() => {
    turns += 1;
  });
  for (let turn = 0; turn < 1_000; turn += 1) await put(store, turn);
  clearImmediate(immediate);
  expect(turns).toBe(0);
  expect(await tailOf(inner)).toBeLessThan(3 * 64);
  await expectExact(backend, 1_000);
});

test("puts that are not awaited go into packs by the hundred, and read back exact", async () => {
  const { backend, inner } = watched(() => undefined);
  const store = await open<Talk>(backend);
  await Promise.all(Array.from({ length: 700 }, (_, turn) => put(store, turn)));
  expect(await tailOf(inner)).toBeLessThan(4 * 64 + 2);
  await expectExact(backend, 700);
});

test("a store that ends before its rows are sealed loses nothing, and the next one seals them", async () => {
  const { backend, inner } = watched(() => undefined);
  const store = await open<Talk>(backend);
  for (let turn = 0; turn < 70; turn += 1) await put(store, turn);
  await store.close();
  await seals();
  expect(await tailOf(inner)).toBe(70);
  const next = await open<Talk>(backend);
  await put(next, 70);
  await seals();
  expect(await tailOf(inner)).toBe(71 - 64);
  await expectExact(backend, 71);
});

test("a seal that fails fails no put, and is tried again when the tail is longer", async () => {
  let failures = 0;
  const inner = memory();
  const backend = sharedBackend(inner, {
    async commit(batches) {
      if (batches.some((batch) => packsOf(batch).length > 0) && failures < 1) {
        failures += 1;
        throw new ThreadmarkError("BACKEND", "The disk is full.", { committed: false });
      }
      return inner.commit(batches);
    },
  });
  const store = await open<Talk>(backend);
  for (let turn = 0; turn < 100; turn += 1) await put(store, turn);
  await seals();
  expect(failures).toBe(1);
  expect(await tailOf(inner)).toBe(100);
  for (let turn = 100; turn < 220; turn += 1) await put(store, turn);
  await seals();
  expect(await tailOf(inner)).toBe(220 - 3 * 64);
  await expectExact(backend, 220);
});

test("two stores that put in turns and seal beside each other show every row once", async () => {
  const { backend, inner } = watched(() => undefined);
  const stores = [await open<Talk>(backend, { packRows: 8 }), await open<Talk>(backend, { packRows: 8 })];
  for (let turn = 0; turn < 120; turn += 1) {
    await put(stores[turn % 2] as Store<Talk>, turn);
    if (turn % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await seals();
  expect(await tailOf(inner)).toBeLessThan(40);
  await expectExact(backend, 120);
});

test("rows that are labelled, replaced or deleted while a seal is under way stay so", async () => {
  const { backend } = watched(() => undefined);
  const store = await open<Talk>(backend, { packRows: 8 });
  const thread = store.thread("t");
  const ids: string[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    ids.push((await thread.put({ state: { messages: [], turn }, id: `c${turn}` })).id);
    if (turn % 10 === 9) {
      await thread.label(`c${turn - 3}`, `label ${turn}`);
      await thread.put({ id: `c${turn - 5}`, state: { messages: ["replaced"], turn: turn - 5 } });
      await thread.deleteCheckpoints([`c${turn - 7}`]);
    }
  }
  await seals();
  const shown = await collect((await open<Talk>(backend)).thread("t").history({ states: true }));
  const gone = [2, 12, 22, 32, 42, 52];
  expect(shown.map(({ id }) => id).reverse()).toEqual(ids.filter((_, turn) => !gone.includes(turn)));
  for (const { state, label } of shown) {
    expect(label).toBe(state.turn % 10 === 6 ? `label ${state.turn + 3}` : "");
    expect(state.messages).toEqual(state.turn % 10 === 4 ? ["replaced"] : []);
  }
});

test("closing a store does not wait for its seals", async () => {
  const { backend } = watched(() => undefined);
  const store = await open<Talk>(backend);
  for (let turn = 0; turn < 66; turn += 1) await put(store, turn);
  await store.close();
  await seals();
  await expectExact(backend, 66);
});
