import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Thread } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

interface State {
  messages: string[];
  turn: number;
  plan?: string;
}

const message = (turn: number): string => `message ${turn}, ${"word ".repeat(40)}`;

/** Opens a store on memory that counts the bytes of what is written. */
async function counting(): Promise<{
  thread: Thread<State>;
  written(): number;
  rows(): Promise<number>;
  marks(): Promise<number>;
}> {
  const backend = memory();
  let bytes = 0;
  const store = await open<State>(
    forwarding(backend, {
      commit: (batches) => {
        for (const { inserts = [], puts = [] } of batches)
          for (const { value } of [...inserts, ...puts]) bytes += value.length;
        return backend.commit(batches);
      },
    }),
    { largeValues: { from: Number.POSITIVE_INFINITY } },
  );
  const rows = async (): Promise<number> => (await store.measure()).bytes.tail + (await store.measure()).bytes.packs;
  const marks = async (): Promise<number> => (await store.measure()).bytes.metadata;
  return { thread: store.thread("t"), written: () => bytes, rows, marks };
}

/** Returns text of a length that has nothing in common with that of another turn. */
function unlike(turn: number, length: number): string {
  const words = Array.from({ length: Math.ceil(length / 64) }, (_, part) =>
    createHash("sha256").update(`${turn}:${part}`).digest("hex"),
  );
  return words.join("").slice(0, length);
}

async function begin(thread: Thread<State>, messages: number): Promise<void> {
  await thread.put({ state: { messages: Array.from({ length: messages }, (_, turn) => message(turn)), turn: 0 } });
}

async function step(thread: Thread<State>, turn: number): Promise<void> {
  await thread.put({ update: { append: { messages: [message(turn)] }, set: { turn } } });
}

describe("a prune after every step", () => {
  it("writes about as much as the steps do, however large the state is", async () => {
    const perStep = async (messages: number, steps: number): Promise<number> => {
      const { thread, written } = await counting();
      await begin(thread, messages);
      for (let turn = 0; turn < 5; turn += 1) await step(thread, turn);
      const before = written();
      for (let turn = 5; turn < steps; turn += 1) {
        await step(thread, turn);
        await thread.prune({ keepLast: 5 });
      }
      return (written() - before) / (steps - 5);
    };
    const change = JSON.stringify(message(1)).length;
    // Long enough for the smaller states to be written anew several times.
    const [small, large] = [await perStep(100, 500), await perStep(1_000, 500)];
    expect(small).toBeLessThan(12 * change);
    expect(large).toBeLessThan(12 * change);
  });

  it("writes about as much as the steps do where many checkpoints are kept beside a small state", async () => {
    const { thread, written } = await counting();
    let put = 0;
    let pruned = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      const before = written();
      await thread.put({ state: { messages: [], turn, plan: unlike(turn, 7_000) } });
      const between = written();
      await thread.prune({ keepLast: 20 });
      put += between - before;
      pruned += written() - between;
    }
    expect(pruned).toBeLessThan(2 * put);
  });

  it("writes no more for a fork in between, however long ago that was", async () => {
    const { thread, written } = await counting();
    await begin(thread, 200);
    await thread.fork({ into: "fork" });
    let before = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      if (turn === 100) before = written();
      await step(thread, turn);
      await thread.prune({ keepLast: 5 });
    }
    expect((written() - before) / 300).toBeLessThan(12 * message(0).length);
  });

  it("leaves no more in storage than about two states where few steps write most", async () => {
    const { thread, rows } = await counting();
    await begin(thread, 300);
    let most = 0;
    for (let turn = 0; turn < 300; turn += 1) {
      if (turn % 10 === 0) await thread.put({ update: { set: { turn, plan: unlike(turn, 50_000) } } });
      else await thread.put({ update: { set: { turn } } });
      await thread.prune({ keepLast: 5 });
      if (turn >= 20) most = Math.max(most, (await rows()) / (50_000 + 300 * message(0).length));
    }
    expect(most).toBeLessThan(4);
  });

  it("leaves no more in storage than about two states and the checkpoints that are kept", async () => {
    const { thread, rows } = await counting();
    await begin(thread, 100);
    let most = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      await step(thread, turn);
      await thread.prune({ keepLast: 5 });
      most = Math.max(most, (await rows()) / ((100 + turn) * message(0).length));
    }
    expect(most).toBeLessThan(3);
    expect(await thread.count()).toBe(5);
  });

  it("leaves no replacement of a pruned checkpoint in storage", async () => {
    const { thread, marks } = await counting();
    await begin(thread, 100);
    const { id, parent } = await thread.put({ update: { set: { turn: 1 } } });
    await thread.put({ update: { set: { turn: 2 } } });
    await thread.put({ id, state: { messages: [], turn: 1, plan: unlike(1, 5_000) } }, { parent });
    expect(await marks()).toBeGreaterThan(5_000);
    await thread.prune({ keepLast: 1 });
    expect(await marks()).toBeLessThan(500);
    expect((await thread.latest())?.state.messages).toHaveLength(100);
    await thread.put({ update: { set: { turn: 3 } } });
    expect((await thread.latest())?.parent).not.toBeNull();
    expect(await thread.count()).toBe(2);
  });

  it("frees what is pruned at once where that is more than it writes", async () => {
    const { thread, rows } = await counting();
    await begin(thread, 100);
    for (let turn = 0; turn < 400; turn += 1) {
      await thread.put({ update: { set: { turn, messages: [message(turn)] } } });
    }
    const before = await rows();
    const { deleted, bytesReclaimed } = await thread.prune({ keepLast: 5 });
    expect(deleted).toBe(396);
    expect(bytesReclaimed).toBeGreaterThan(before / 2);
    expect(await rows()).toBeLessThan(before / 4);
  });

  it("a prune tells in a dry run what it then does", async () => {
    const { thread } = await counting();
    await begin(thread, 200);
    for (let turn = 0; turn < 20; turn += 1) await step(thread, turn);
    const told = await thread.prune({ keepLast: 5, dryRun: true });
    expect(told).toEqual({ deleted: 16, bytesReclaimed: 0 });
    expect(await thread.count()).toBe(21);
    expect(await thread.prune({ keepLast: 5 })).toEqual(told);
  });

  it("does not let hidden rows of a list that only grows become ever more", async () => {
    const backend = memory();
    let freed = 0;
    const store = await open<State>(
      forwarding(backend, {
        commit: (batches) => {
          for (const { deletes = [] } of batches) for (const key of deletes) if (key.table === "rows") freed += 1;
          return backend.commit(batches);
        },
      }),
    );
    const thread = store.thread("t");
    await thread.put({ state: { messages: [], turn: 0 } });
    for (let turn = 0; turn < 1_000; turn += 1) {
      await step(thread, turn);
      await thread.prune({ keepLast: 5 });
    }
    // Packs of 64 rows: each leaves storage at some time, but for those since the list was half as long.
    expect(freed).toBeGreaterThan(5);
    expect((await thread.latest())?.state.messages.length).toBe(1_000);
  });
});
