import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";

interface Talk {
  readonly list: readonly unknown[];
  readonly n: number;
}

const large = (from: number): unknown[] =>
  Array.from({ length: 100 }, (_, index) => ({ id: from + index, text: `${from + index} ${"x".repeat(500)}` }));

async function bytesOf(store: Store<Talk>): Promise<number> {
  return (await store.measure()).bytes.total;
}

/** Every branch is what it was put as, read by a store that remembers nothing of it as well. */
async function expectExact(store: Store<Talk>, states: ReadonlyMap<string, Talk>): Promise<void> {
  const thread = store.thread("t");
  for (const [id, state] of states) expect((await thread.get(id))?.state, id).toEqual(state);
  for await (const { id, state } of thread.history({ states: true })) expect(state, id).toEqual(states.get(id));
  expect(await thread.count()).toBe(states.size);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  const copy = await open<Talk>("memory:");
  await copy.import(store.export());
  for (const [id, state] of states) expect((await copy.thread("t").get(id))?.state, id).toEqual(state);
  expect(await copy.import(store.export())).toMatchObject({ imported: 0, unchanged: 1 });
  await copy.close();
}

describe.each([3, 64])("branches, with packs of %d", (packRows) => {
  test("a large checkpoint that goes is held by one of its branches, not by each", async () => {
    const store = await open<Talk>("memory:", { packRows });
    const thread = store.thread("t");
    const states = new Map<string, Talk>();
    await thread.put({ id: "base", state: { list: large(0), n: 0 } });
    await thread.put({ id: "next", update: { append: { list: large(100) } } });
    for (let n = 0; n < 30; n += 1) {
      const parent = n % 3 === 0 ? "base" : "next";
      const list = [...large(0), ...(parent === "next" ? large(100) : []), { branch: n }];
      await thread.put({ id: `b${n}`, update: { append: { list: [{ branch: n }] }, set: { n } } }, { parent });
      states.set(`b${n}`, { list, n });
    }
    const before = await bytesOf(store);
    const frame = JSON.stringify({ list: [...large(0), ...large(100)], n: 0 }).length;
    expect(await thread.deleteCheckpoints(["base", "next"])).toBe(2);
    expect(await bytesOf(store)).toBeLessThan(before + frame);
    await expectExact(store, states);
    // The checkpoints that hold the shared change are deleted in turn.
    for (const id of ["b0", "b1", "b2", "b5"]) {
      const held = await bytesOf(store);
      await thread.deleteCheckpoints([id]);
      states.delete(id);
      expect(await bytesOf(store)).toBeLessThan(held + frame);
      await expectExact(store, states);
    }
    await store.compact();
    await expectExact(store, states);
    expect(await bytesOf(store)).toBeLessThan(2 * frame);
    await thread.prune({ keepLast: 2 });
    for (const id of states.keys()) if (id !== "b28" && id !== "b29") states.delete(id);
    await expectExact(store, states);
    await store.close();
  });

  test("branches that build on one of them follow the checkpoint before, and are not told as changes of it", async () => {
    const store = await open<Talk>("memory:", { packRows });
    const thread = store.thread("t");
    const states = new Map<string, Talk>([["first", { list: ["first"], n: -1 }]]);
    await thread.put({ id: "first", state: { list: ["first"], n: -1 } });
    await thread.put({ id: "base", update: { append: { list: large(0) } } });
    for (let n = 0; n < 12; n += 1) {
      // An update that only sets a field would fit the checkpoint before as well.
      const added = n % 2 === 0 ? [] : [n];
      await thread.put({ id: `b${n}`, update: { append: { list: added }, set: { n } } }, { parent: "base" });
      states.set(`b${n}`, { list: ["first", ...large(0), ...added], n });
    }
    await thread.deleteCheckpoints(["base"]);
    for (let n = 0; n < 12; n += 1) expect((await thread.get(`b${n}`))?.parent).toBe("first");
    await expectExact(store, states);
    const fork = await thread.fork({ at: "b7", edits: { n: 70 } });
    expect((await fork.latest())?.state).toEqual({ list: ["first", ...large(0), 7], n: 70 });
    expect(await fork.count()).toBe(3);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  });

  test("branches keep one copy between them of a value that one of them overwrote", async () => {
    const store = await open<Talk>("memory:", { packRows });
    const thread = store.thread("t");
    const states = new Map<string, Talk>();
    await thread.put({ id: "base", state: { list: large(0), n: 0 } });
    for (let n = 0; n < 12; n += 1) {
      const state = n === 0 ? { list: large(1_000), n } : { list: large(0), n };
      await thread.put({ id: `b${n}`, state }, { parent: "base" });
      states.set(`b${n}`, state);
    }
    const before = await bytesOf(store);
    await thread.deleteCheckpoints(["base"]);
    const frame = JSON.stringify({ list: large(0), n: 0 }).length;
    expect(await bytesOf(store)).toBeLessThan(before + frame + 12 * 500);
    await expectExact(store, states);
    await store.close();
  });

  test("branches that each leave out another part have them all between them", async () => {
    const store = await open<Record<string, unknown>>("memory:", { packRows });
    const thread = store.thread("t");
    const fields = Array.from({ length: 8 }, (_, field) => [`f${field}`, large(field * 100)] as const);
    await thread.put({ id: "base", state: Object.fromEntries(fields) });
    for (let n = 0; n < 40; n += 1) {
      await thread.put({ id: `b${n}`, update: { unset: [`f${n % 8}`] } }, { parent: "base" });
    }
    const before = (await store.measure()).bytes.total;
    await thread.deleteCheckpoints(["base"]);
    const frame = JSON.stringify(Object.fromEntries(fields)).length;
    expect((await store.measure()).bytes.total).toBeLessThan(before + frame);
    for (let n = 0; n < 40; n += 1) {
      const state = Object.fromEntries(fields.filter((_, field) => field !== n % 8));
      expect((await thread.get(`b${n}`))?.state).toEqual(state);
    }
    await store.close();
  });

  test("branches from a sealed checkpoint cost what they change, whatever its pack has come to hold", async () => {
    const store = await open<Talk>("memory:", { packRows });
    const thread = store.thread("t");
    await thread.put({ id: "first", state: { list: large(0), n: 0 } });
    for (let n = 1; n < 70; n += 1) await thread.put({ update: { append: { list: large(n * 100) } } });
    const before = await bytesOf(store);
    for (let n = 0; n < 100; n += 1) await thread.put({ update: { set: { n } } }, { parent: "first" });
    expect(await bytesOf(store)).toBeLessThan(before + 100 * 500);
    await store.close();
  });

  test("a fork of a branch that builds on another keeps it, whatever is deleted here", async () => {
    const store = await open<Talk>("memory:", { packRows });
    const thread = store.thread("t");
    await thread.put({ id: "base", state: { list: large(0), n: 0 } });
    for (let n = 0; n < 6; n += 1) await thread.put({ id: `b${n}`, update: { set: { n } } }, { parent: "base" });
    await thread.deleteCheckpoints(["base"]);
    const fork = await thread.fork({ at: "b4", into: "fork" });
    const copy = await thread.copy("copy");
    await thread.deleteCheckpoints(["b0", "b4"]);
    await store.compact();
    expect((await fork.latest())?.state).toEqual({ list: large(0), n: 4 });
    expect((await copy.get("b0"))?.state).toEqual({ list: large(0), n: 0 });
    await copy.delete();
    await store.compact();
    expect((await fork.latest())?.state).toEqual({ list: large(0), n: 4 });
    expect((await thread.get("b5"))?.state).toEqual({ list: large(0), n: 5 });
    await thread.delete();
    await store.compact();
    expect((await fork.latest())?.state).toEqual({ list: large(0), n: 4 });
    expect(await fork.count()).toBe(1);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  });
});

test("going back again and again, into the midst of packs, does not make reads longer and longer", async () => {
  const { backend, taken } = counted(memory());
  const thread = (await open<Talk>(backend)).thread("t");
  await thread.put({ state: { list: [], n: 0 } });
  let parent: string | undefined;
  for (let round = 0; round < 60; round += 1) {
    const ids: string[] = [];
    for (let n = 0; n < 64; n += 1) {
      const update = { append: { list: [{ round, n, text: "abcdefghij".repeat(50) }] } };
      ids.push((await thread.put({ update }, n === 0 && parent ? { parent } : {})).id);
    }
    parent = ids[2] as string;
  }
  const reader = (await open<Talk>(backend)).thread("t");
  taken();
  const state = (await reader.latest())?.state;
  expect(state?.list).toHaveLength(59 * 3 + 64);
  expect(taken().bytes / JSON.stringify(state).length).toBeLessThan(15);
});

const step = fc.record({
  parent: fc.nat(1_000),
  appended: fc.nat({ max: 8 }),
  kept: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
});

test("whatever is deleted of any tree of checkpoints, the store grows by one full frame at most", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 25 }),
      fc.array(fc.array(fc.nat(24), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(2, 5, 64),
      async (steps, deletions, packRows) => {
        const store = await open<Talk>("memory:", { packRows });
        const thread = store.thread("t");
        const states = new Map<string, Talk>();
        let frame = 0;
        for (const [n, { parent, appended, kept }] of steps.entries()) {
          const from = n === 0 ? undefined : `c${parent % n}`;
          const before = from === undefined ? [] : (states.get(from) as Talk).list;
          const added = Array.from({ length: appended }, (_, index) => `${n} ${index} ${"y".repeat(800)}`);
          const state = { list: [...before.slice(0, kept), ...added], n };
          await thread.put({ id: `c${n}`, state }, { parent: from ?? null });
          states.set(`c${n}`, state);
          frame = Math.max(frame, JSON.stringify(state).length);
        }
        for (const deleted of deletions) {
          const ids = deleted.map((n) => `c${n}`);
          const before = await bytesOf(store);
          await thread.deleteCheckpoints(ids);
          for (const id of ids) states.delete(id);
          // A row that builds on another than its parent says so.
          expect(await bytesOf(store)).toBeLessThan(before + frame + 100 * steps.length);
        }
        if (states.size > 0) await expectExact(store, states);
        await store.close();
      },
    ),
    { numRuns: 150 },
  );
});
