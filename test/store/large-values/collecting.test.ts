import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { sharedMemory } from "../../../src/testing/index.ts";
import { censusOf, documentOf } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: states of every shape.
type Free = Record<string, any>;

const options = { largeValues: { from: 1_000 }, packRows: 3 };

async function opened() {
  const backend = memory();
  const store = await open<Free>(backend, options);
  const stored = async (): Promise<number> => {
    const census = await censusOf(backend);
    expect(census.stored).toEqual(census.referred);
    return census.stored.length;
  };
  return { backend, store, stored };
}

describe("a large value goes with the last record that refers to it", () => {
  it("when checkpoints are pruned or deleted", async () => {
    const { store, stored } = await opened();
    const thread = store.thread("t");
    for (let n = 0; n < 12; n++) await thread.put({ state: { text: documentOf(2_000, n) } });
    expect(await stored()).toBe(12);
    const { bytesReclaimed } = await thread.prune({ keepLast: 5 });
    expect(bytesReclaimed).toBeGreaterThan(14_000);
    expect(await stored()).toBe(5);
    const before = await thread.get({ seq: 11 });
    await thread.deleteCheckpoints([before?.id ?? ""]);
    expect(await stored()).toBe(4);
  });

  it("when a run, a thread or all threads are deleted", async () => {
    const { store, backend, stored } = await opened();
    const thread = store.thread("t");
    await thread.put({ state: { text: documentOf(2_000, 1) }, run: "one" });
    await thread.put({ state: { text: documentOf(2_000, 2) }, run: "two" });
    await thread.fork({ into: "f", edits: { more: documentOf(2_000, 3) } });
    expect(await stored()).toBe(3);
    await store.thread("f").delete();
    expect(await stored()).toBe(2);
    await thread.deleteRun("two");
    expect(await stored()).toBe(1);
    await thread.delete();
    expect((await backend.size()).tables.value.records).toBe(0);
  });

  it("not while a fork or a copy shows it", async () => {
    const { store, stored } = await opened();
    const thread = store.thread("t");
    const text = documentOf(2_000, "shared");
    await thread.put({ state: { text } });
    await thread.fork({ into: "f" });
    await thread.put({ state: { text: "short" } });
    await thread.prune({ keepLast: 1 });
    expect(await stored()).toBe(1);
    await thread.delete();
    await store.compact();
    expect(await stored()).toBe(1);
    expect((await store.thread("f").latest())?.state).toEqual({ text });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
  });

  it("when a checkpoint is replaced, once for its own replacement and by compaction for its frame", async () => {
    const { store, stored } = await opened();
    const thread = store.thread("t");
    for (const n of [1, 2, 3]) await thread.put({ id: "a", state: { text: documentOf(2_000, n) } });
    expect(await stored()).toBe(2);
    await store.compact();
    expect(await stored()).toBe(1);
    expect((await thread.latest())?.state).toEqual({ text: documentOf(2_000, 3) });
  });

  it("when a control write is replaced, and when writes go with their checkpoint", async () => {
    const { store, stored } = await opened();
    const thread = store.thread("t");
    const { id } = await thread.put({ state: {} });
    const write = (n: number) =>
      thread.putWrites(id, { task: "1", writes: [{ channel: "__error__", index: -1, value: documentOf(2_000, n) }] });
    await write(1);
    expect(await stored()).toBe(1);
    await write(2);
    expect(await stored()).toBe(1);
    expect((await thread.writes(id))[0]?.value).toBe(documentOf(2_000, 2));
    await thread.put({ state: {} });
    await thread.prune({ keepLast: 1 });
    expect(await stored()).toBe(0);
  });

  it("and nothing else goes, whatever happens to threads of one lineage", async () => {
    const place = fc.nat(3);
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("put" as const),
        thread: place,
        text: fc.nat(4),
        key: fc.constantFrom("a", "b", "c"),
      }),
      fc.record({ kind: fc.constant("edit" as const), thread: place, text: fc.nat(4) }),
      fc.record({ kind: fc.constant("replace" as const), thread: place, text: fc.nat(4) }),
      fc.record({ kind: fc.constant("write" as const), thread: place, text: fc.nat(4) }),
      fc.record({ kind: fc.constant("fork" as const), thread: place, into: place }),
      fc.record({ kind: fc.constant("prune" as const), thread: place, keep: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant("delete" as const), thread: place }),
      fc.record({ kind: fc.constant("compact" as const) }),
      fc.record({ kind: fc.constant("swap" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const backend = sharedMemory();
        let [store, other] = [await open<Free>(backend, options), await open<Free>(backend, options)];
        const states = new Map<number, Free>();
        for (const one of steps) {
          if (one.kind === "swap") [store, other] = [other, store];
          else await take(store, states, one);
          const { stored, referred } = await censusOf(backend);
          expect(stored).toEqual(referred);
        }
        for (const [thread, state] of states) expect((await other.thread(`t${thread}`).latest())?.state).toEqual(state);
        expect(await other.verify()).toEqual({ ok: true, faults: [] });
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});

interface Step {
  readonly kind: string;
  readonly thread?: number;
  readonly text?: number;
  readonly key?: string;
  readonly into?: number;
  readonly keep?: number;
}

async function take(store: Store<Free>, states: Map<number, Free>, step: Step): Promise<void> {
  const { kind, thread: number = 0, text = 0, key = "a", into = 0, keep = 1 } = step;
  if (kind === "compact") return store.compact();
  const thread = store.thread(`t${number}`);
  const state = states.get(number);
  if (kind === "put") {
    const next = { ...state, [key]: documentOf(1_500, text) };
    await thread.put(state ? { update: { set: { [key]: documentOf(1_500, text) } } } : { state: next });
    states.set(number, next);
  }
  if (!state) return;
  if (kind === "edit" && state["a"]) {
    const next = { ...state, a: `${state["a"]}!`, n: text };
    await thread.put({ state: next });
    states.set(number, next);
  } else if (kind === "replace") {
    const head = await thread.latest();
    const next = { replaced: documentOf(1_500, text) };
    await thread.put({ id: head?.id ?? "", state: next });
    states.set(number, next);
  } else if (kind === "write") {
    const head = await thread.latest();
    const writes = [{ channel: "c", index: -1, value: documentOf(1_500, text) }];
    await thread.putWrites(head?.id ?? "", { task: "t", writes });
  } else if (kind === "fork" && !states.has(into)) {
    await thread.fork({ into: `t${into}` });
    states.set(into, state);
  } else if (kind === "prune") await thread.prune({ keepLast: keep });
  else if (kind === "delete") {
    await thread.delete();
    states.delete(number);
  }
}
