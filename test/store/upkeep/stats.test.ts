import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { smallStore } from "../../../src/model/small-store.ts";
import { counted, type Taken } from "../../support/counted.ts";

const larger = { checkpoints: null, stateVersions: null, bytes: expect.objectContaining({ packs: null, log: null }) };

async function fill(store: Store, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += 1_000) {
    const numbers = Array.from({ length: Math.min(1_000, to - start) }, (_, index) => start + index);
    await Promise.all(numbers.map((n) => store.thread(`t${n}`).put({ state: { n } })));
  }
}

test.each(["memory", "sqlite"])(
  "stats of a larger store read as much as those of one that is larger still, and measure nothing: on %s",
  async (name) => {
    const { backend, taken } = counted(name === "memory" ? memory() : await sqlite(":memory:"));
    const filling = await open(backend);
    const told: Taken[] = [];
    for (const [from, to] of [
      [0, smallStore.threads],
      [smallStore.threads, smallStore.threads + 1],
      [smallStore.threads + 1, smallStore.threads + 4_000],
    ] as const) {
      await fill(filling, from, to);
      const store = await open(backend);
      taken();
      const stats = await store.stats();
      told.push(taken());
      expect(stats.threads).toBe(to);
      if (to <= smallStore.threads) expect(stats.checkpoints).toBe(to);
      else expect(stats).toMatchObject(larger);
      expect(stats.bytes.total === null).toBe(name === "memory" && to > smallStore.threads);
    }
    const [small, ...others] = told;
    expect(small).toMatchObject({ sizes: 1 });
    for (const one of others) expect(one).toEqual(others[0]);
    expect(others[0]?.reads).toBeLessThan(6);
    expect(others[0]).toMatchObject({ sizes: 0, commits: 0 });
    expect(others[0]?.records).toBeLessThan(6);

    // A store that becomes small again is told as any other.
    await Promise.all(Array.from({ length: 4_000 }, (_, n) => filling.thread(`t${n}`).delete()));
    expect(await filling.stats()).toMatchObject({ threads: smallStore.threads, checkpoints: smallStore.threads });
  },
);

test("stats of a store whose bytes make it larger read no thread", async () => {
  const { backend, taken } = counted(await sqlite(":memory:"));
  const store = await open(backend);
  for (let n = 0; n < 9; n += 1) await store.thread(`t${n}`).put({ state: { text: `${n}`.repeat(8_000_000) } });
  taken();
  const stats = await store.stats();
  expect(stats).toMatchObject({ ...larger, threads: 9 });
  expect(stats.bytes.total).toBeGreaterThan(smallStore.bytes);
  expect(taken()).toMatchObject({ sizes: 0 });
  expect(await store.measure()).toMatchObject({ threads: 9, checkpoints: 9, stateVersions: { 0: 9 } });
});

test.each(["plain", "encrypted"])(
  "stats of few threads with many checkpoints measure nothing where the medium does not tell its bytes: %s",
  async (name) => {
    const { backend, taken } = counted(memory());
    const encryption = { current: "one", keys: { one: randomBytes(32) } };
    const store = await open(backend, name === "encrypted" ? { encryption } : {});
    const thread = store.thread("t");
    for (let n = 0; n < 1_000; n += 1) await thread.put({ state: { n } });
    for (let n = 0; n < smallStore.checkpoints / 1_000 - 1; n += 1) await thread.copy(`copy ${n}`);
    expect((await store.stats()).checkpoints).toBe(smallStore.checkpoints);
    await thread.put({ state: {} });
    taken();
    expect(await store.stats()).toMatchObject({ ...larger, bytes: { total: null } });
    expect(taken()).toMatchObject({ sizes: 0 });
    expect((await store.measure()).checkpoints).toBe(smallStore.checkpoints + 1);
  },
);

test("stats of a small store end with the reason of their signal", async () => {
  const { backend } = counted(memory());
  await fill(await open(backend), 0, 200);
  const stop = new AbortController();
  const store = await open(backend);
  const stats = store.stats({ signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(stats).rejects.toThrow("enough");
});
