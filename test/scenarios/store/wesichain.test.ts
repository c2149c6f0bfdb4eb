import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { renamed, snapshot, wholeHistory } from "../../../src/testing/support/snapshot.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { type Free, onEveryBackend } from "./stores.ts";

async function steps(store: Store<Free>, thread: string, count: number): Promise<void> {
  for (let step = 0; step < count; step++) await store.thread(thread).put({ id: `s${step}`, state: { step }, step });
}

onEveryBackend("wesichain", ({ fresh, again, backend }) => {
  test("wesichain 1: a fork at step 2 of five is a new thread of three, the latest of step 2", async () => {
    const store = await fresh();
    await steps(store, "t", 5);
    const forked = await store.thread("t").fork({ at: { step: 2 } });
    expect(forked.id).not.toBe("t");
    expect(await forked.count()).toBe(3);
    expect((await forked.latest())?.step).toBe(2);
  });

  test("wesichain 2: a fork at an unknown step is NOT_FOUND, and no thread is made", async () => {
    const store = await fresh();
    await steps(store, "t", 2);
    await expect(store.thread("t").fork({ at: { step: 99 } })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await collect(store.threads())).map(({ id }) => id)).toEqual(["t"]);
  });

  test("wesichain 3: puts on the source stay out of the fork, and the other way round", async () => {
    const store = await fresh();
    await steps(store, "t", 3);
    const forked = await store.thread("t").fork({ at: { step: 1 } });
    await store.thread("t").put({ state: { more: 1 } });
    expect(await idsOf(forked.history())).toEqual(["s1", "s0"]);
    await forked.put({ id: "f2", state: { fork: 1 } });
    expect(await idsOf(forked.history())).toEqual(["f2", "s1", "s0"]);
    expect(await store.thread("t").count()).toBe(4);
    expect(await store.thread("t").get("f2")).toBeUndefined();
  });

  test("wesichain 4: forked checkpoints carry the new thread's id, everything else is equal", async () => {
    const store = await fresh();
    await steps(store, "t", 4);
    const whole = await snapshot(store, "t");
    await store.thread("t").fork({ into: "f" });
    expect(await snapshot(store, "f")).toEqual(renamed(whole, "f"));
  });

  test("wesichain 5: an unknown thread has no latest and an empty history", async () => {
    const thread = (await fresh()).thread("nobody");
    expect(await thread.latest()).toBeUndefined();
    expect(await idsOf(thread.history())).toEqual([]);
  });

  test("wesichain 6: the same step twice keeps both; a fork there ends at the last committed", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ id: "a", state: {}, step: 0 });
    await thread.put({ id: "b", state: {}, step: 1 });
    await thread.put({ id: "c", state: {}, step: 1 });
    expect(await idsOf(thread.history())).toEqual(["c", "b", "a"]);
    expect((await (await thread.fork({ at: { step: 1 } })).latest())?.id).toBe("c");
  });

  test("wesichain 7: latest goes by commit order, or by step when asked", async () => {
    const thread = (await fresh()).thread("t");
    await thread.put({ state: {}, step: 5 });
    await thread.put({ state: {}, step: 3 });
    expect((await thread.latest())?.step).toBe(3);
    expect((await thread.latest({ by: "step" }))?.step).toBe(5);
  });

  test("wesichain 8: 64-bit path ids in next survive exactly", async () => {
    const store = await fresh();
    await store.thread("t").put({ state: {}, next: [{ node: "n", task: "p", arg: { path: 18446744073709551615n } }] });
    for (const reader of [store, await again()]) {
      expect((await reader.thread("t").latest())?.next).toEqual([
        { node: "n", task: "p", arg: { path: 18446744073709551615n } },
      ]);
    }
  });

  test("wesichain 9: 8 concurrent puts on one thread: 8 distinct seqs, none lost", async () => {
    const store = await fresh();
    const other = backend.capabilities.processes ? await again() : store;
    const put = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? store : other).thread("t").put({ id: `c${n}`, state: { n } })),
    );
    expect(new Set(put.map(({ seq }) => seq)).size).toBe(8);
    const states = (await wholeHistory(store.thread("t"))).map(({ state }) => state.n as number);
    expect(states.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("wesichain 10: a fork of 10,000 checkpoints takes about as many bytes as one of 10", async () => {
    const store = await fresh();
    const grow = async (id: string, count: number): Promise<void> => {
      const thread = store.thread(id);
      await thread.put({ state: { list: [] } });
      for (let done = 1; done < count; done += 500) {
        const batch = Array.from({ length: Math.min(500, count - done) }, (_, n) => n + done);
        await Promise.all(batch.map((n) => thread.put({ update: { append: { list: [n] } } })));
      }
    };
    await grow("short", 10);
    await grow("long", 10_000);
    const bytes = async (): Promise<number> => {
      const { directory, metadata, tail, packs, index, writes } = (await store.measure()).bytes;
      return directory + metadata + tail + packs + index + writes;
    };
    const costOf = async (id: string): Promise<number> => {
      const before = await bytes();
      for (let n = 0; n < 10; n++) await store.thread(id).fork({ into: `${id} ${n}` });
      return (await bytes()) - before;
    };
    const short = await costOf("short");
    const long = await costOf("long");
    expect(long).toBeLessThan(short * 2 + 1000);
    const forked = store.thread("long 9");
    expect(await forked.count()).toBe(10_000);
    expect((await forked.latest())?.state.list).toHaveLength(9_999);
  });
});

test("wesichain 10: a fork of 10,000 checkpoints touches as many records as one of 10", async () => {
  const backend = memory();
  let touched = 0;
  const counting = forwarding(backend, {
    async read(reads) {
      const answers = await backend.read(reads);
      for (const answer of answers) touched += Array.isArray(answer) ? answer.length : 1;
      return answers;
    },
    async commit(batches) {
      for (const { checks, inserts, puts, deletes } of batches) {
        touched += [checks, inserts, puts, deletes].reduce((sum, list) => sum + (list?.length ?? 0), 0);
      }
      return backend.commit(batches);
    },
  });
  const store = await open<Free>(counting);
  const costs: number[] = [];
  for (const count of [10, 10_000]) {
    const thread = store.thread(`of ${count}`);
    for (let n = 0; n < count; n++) await thread.put({ update: { set: { n } } });
    for (const at of [undefined, { step: count - 1 }]) {
      touched = 0;
      await thread.fork({ into: `fork ${costs.length}`, ...(at === undefined ? {} : { at }), edits: { edited: true } });
      costs.push(touched);
    }
  }
  // The longer thread may read one pack where the shorter one reads its few loose records.
  expect(Math.max(...costs.slice(2))).toBeLessThan(Math.max(...costs.slice(0, 2)) + 80);
  await store.close();
});
