import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Thread } from "../../../src/api/thread.ts";
import type { Backend, Batch } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { idsOf } from "../../support/collect.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

/** A memory backend whose answers take a few turns of the microtask queue longer, now more, now fewer. */
function slow(inner: Backend, most: number, beforeCommit?: (batches: readonly Batch[]) => Promise<void>): Backend {
  let seed = 1;
  const wait = async (): Promise<void> => {
    seed = (seed * 48_271) % 2_147_483_647;
    await turns(seed % most);
  };
  return sharedBackend(inner, {
    async read(reads) {
      const answers = await inner.read(reads);
      await wait();
      return answers;
    },
    async commit(batches) {
      await wait();
      await beforeCommit?.(batches);
      const applied = await inner.commit(batches);
      await wait();
      return applied;
    },
  });
}

/** The same, where another does something just before one of the reads, and once more before a later one. */
function overtaken(shared: Backend, before: number, act: () => Promise<unknown>, later = Infinity): Backend {
  const inner = slow(shared, 1);
  let reads = 0;
  return sharedBackend(inner, {
    async read(asked) {
      const read = reads++;
      if (read === before || read === later) await act();
      return inner.read(asked);
    },
  });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await null;
}

test("what is read while the next step is committed is one checkpoint, never a mixture", async () => {
  const thread = (await open<{ n: number }>(slow(memory(), 4))).thread("t");
  await thread.put({ state: { n: 0 }, step: 0 });
  for (let n = 1; n <= 300; n += 1) {
    const reads = Array.from({ length: 10 }, async (_, index) => {
      await turns(index * 2);
      const { step, state } = (await thread.latest()) ?? expect.unreachable();
      expect(state.n).toBe(step);
    });
    await Promise.all([thread.put({ update: { set: { n } }, step: n }), ...reads]);
  }
});

test("what a task writes is not ignored for what another store has since deleted with the whole thread", async () => {
  const shared = memory();
  const one = await open(slow(shared, 1));
  const other = (await open(slow(shared, 1))).thread("fork");
  const write = (value: number) => ({ task: "k", writes: [{ channel: "c", value }] });
  await one.thread("t").put({ id: "a", state: {} });
  await one.thread("t").putWrites("a", write(1));
  const fork = await one.thread("t").fork({ into: "fork" });
  await other.delete();
  await other.put({ id: "a", state: {} });
  expect(await fork.putWrites("a", write(2))).toEqual({ stored: 1, ignored: 0 });
  expect((await other.writes("a")).map(({ value }) => value)).toEqual([2]);
});

test("two stores that make the same thread at the same time both keep what they put", async () => {
  for (let round = 0; round < 100; round += 1) {
    const shared = memory();
    const one = await open(slow(shared, 10));
    const other = await open(slow(shared, 7));
    await Promise.all([
      one.thread("t").put({ state: { one: true } }),
      turns(round % 25).then(() => other.thread("t").put({ state: { other: true } })),
    ]);
    expect(await (await open(shared)).thread("t").count()).toBe(2);
  }
});

test("after a lost answer, another's checkpoint under the same seq and id is not taken for one's own", async () => {
  const shared = memory();
  const clock = (): number => 1000;
  const other = (await open(shared, { clock })).thread("t");
  await other.put({ state: { n: 0 } });
  let lose = true;
  const losing = slow(shared, 1, async () => {
    if (!lose) return;
    lose = false;
    await other.put({ state: { who: "other" } });
    throw new ThreadmarkError("BACKEND", "The connection broke.", { committed: "unknown" });
  });
  const thread = (await open(losing, { clock })).thread("t");
  await thread.latest();
  await expect(thread.put({ state: { who: "me" } })).rejects.toMatchObject({ code: "BACKEND", committed: "unknown" });
  await nextTurn();
  const { id } = await thread.put({ state: { who: "me" } });
  expect((await thread.get(id))?.state).toEqual({ who: "me" });
  expect(await thread.count()).toBe(3);
});

test("a step on a replaced checkpoint is planned again when a compaction of another store comes in between", async () => {
  const shared = memory();
  // Without room for trees each plan reads its parent's.
  const options = { cacheBytes: 0, packRows: 3 };
  const one = await open<{ text: string }>(slow(shared, 3), options);
  const other = await open<{ text: string }>(slow(shared, 3), options);
  const thread = one.thread("t");
  await thread.put({ state: { text: "long ".repeat(60) } });
  const { id } = await thread.put({ state: { text: `other ${"long ".repeat(59)}` } });
  await thread.put({ id, update: {} });
  const nested = one.thread("t", { namespace: ["nested"] });
  for (let step = 0; step < 6; step += 1) await nested.put({ state: { text: "" } });
  await other.compact();
  await thread.put({ update: {} });
  expect((await thread.latest())?.state.text).toBe("long ".repeat(60));
});

test("a fork whose beginning goes with a compaction of another store shows the rest, whenever that comes in between", async () => {
  for (let before = 0; before < 8; before += 1) {
    const shared = memory();
    const other = await open<{ n: number }>(slow(shared, 1));
    const thread = other.thread("t");
    for (let n = 1; n <= 2; n += 1) await thread.put({ id: `c${n}`, state: { n } });
    const fork = await thread.fork({ into: "fork" });
    await fork.put({ id: "own", state: { n: 3 } });
    await thread.deleteCheckpoints(["c1", "c2"]);
    await fork.deleteCheckpoints(["c2", "own"]);
    const reader = await open<{ n: number }>(overtaken(shared, before, () => other.compact()));
    const ids = await idsOf(reader.thread("fork").history());
    expect(ids, `compacted before read ${before}`).toEqual(["c1"]);
  }
});

test("a fork keeps to its line past a replaced checkpoint that goes with a compaction of another store, whenever that comes", async () => {
  for (const packRows of [3, 64]) {
    for (let before = 0; before < 16; before += 1) {
      const shared = memory();
      const other = await open<{ n: number }>(slow(shared, 1), { packRows });
      const thread = other.thread("t");
      for (let n = 1; n <= 3; n += 1) await thread.put({ id: `c${n}`, state: { n } });
      await thread.put({ id: "c3", state: { n: 0 } }, { parent: "c1" });
      for (let n = 4; n <= 10; n += 1) await thread.put({ id: `c${n}`, state: { n } });
      const fork = await thread.fork({ into: "fork" });
      for (const side of [fork, thread]) await side.deleteCheckpoints(["c3"]);
      const reader = await open<{ n: number }>(overtaken(shared, before, () => other.compact()));
      const ids = await idsOf(reader.thread("fork").history());
      const line = ["c10", "c9", "c8", "c7", "c6", "c5", "c4", "c1"];
      expect(ids, `packs of ${packRows}, compacted before read ${before}`).toEqual(line);
    }
  }
});

test("a history is whole although another store deletes the newest checkpoint, and a pack goes back to the tail, in between", async () => {
  for (let before = 0; before < 5; before += 1) {
    const readWhile = async <T>(read: (thread: Thread<{ n: number }>) => Promise<T>): Promise<T> => {
      const shared = memory();
      const other = (await open<{ n: number }>(slow(shared, 1), { packRows: 4 })).thread("t");
      for (let n = 0; n <= 8; n += 1) await other.put({ id: `c${n}`, state: { n } });
      const reader = await open<{ n: number }>(overtaken(shared, before, () => other.deleteCheckpoints(["c8"])));
      return read(reader.thread("t"));
    };
    const ids = await readWhile((thread) => idsOf(thread.history()));
    const message = `deleted before read ${before}`;
    expect(
      ids.filter((id) => id !== "c8"),
      message,
    ).toEqual(["c7", "c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
    for (const step of [1, 5]) {
      expect((await readWhile((thread) => thread.get({ step })))?.id, `${message}, step ${step}`).toBe(`c${step}`);
    }
  }
});

test("what another store has deleted does not come back with packs that were read before", async () => {
  const shared = memory();
  const other = (await open<{ n: number }>(slow(shared, 1), { packRows: 4 })).thread("t");
  for (let n = 0; n <= 8; n += 1) await other.put({ id: `c${n}`, state: { n } });
  const inner = slow(shared, 1);
  let meanwhile: (() => Promise<unknown>) | undefined;
  const reader = await open<{ n: number }>({
    ...inner,
    async read(asked) {
      const answers = await inner.read(asked);
      if (!meanwhile || !asked.some((one) => "scan" in one && one.scan.table === "rows")) return answers;
      const run = meanwhile;
      meanwhile = undefined;
      await run();
      return answers;
    },
  });
  const thread = reader.thread("t");
  const reads = [() => idsOf(thread.history()), () => thread.get({ step: 1 }), () => thread.get("c1")];
  for (const [index, read] of reads.entries()) {
    meanwhile = async () => {
      await other.deleteCheckpoints([`c${index + 2}`]);
      await thread.latest();
    };
    await read();
    expect(meanwhile, `read ${index}`).toBeUndefined();
    expect(await idsOf(thread.history()), `read ${index}`).toEqual(await idsOf(other.history()));
    await other.put({ id: `later ${index}`, state: { n: index } });
    await other.deleteCheckpoints([`later ${index}`]);
  }
});

test("what a task writes while a compaction drops old writes of the same task is kept", async () => {
  const shared = memory();
  let now = 0;
  const clock = (): number => now;
  const thread = (await open(slow(shared, 1), { clock })).thread("t");
  const write = (index: number) => thread.putWrites("soon", { task: "k", writes: [{ channel: "c", value: 1, index }] });
  await write(0);
  now = 25 * 3_600_000;
  let meanwhile: (() => Promise<unknown>) | undefined = () => write(1);
  const compacting = slow(shared, 1, async () => {
    const run = meanwhile;
    meanwhile = undefined;
    await run?.();
  });
  await (await open(compacting, { clock })).compact();
  expect(meanwhile).toBeUndefined();
  expect((await thread.writes("soon")).map(({ index }) => index)).toContain(1);
});

test("a fork does not take the name of an empty thread that another store puts into meanwhile", async () => {
  const shared = memory();
  const other = (await open(slow(shared, 1))).thread("empty");
  const { id } = await other.put({ state: {} });
  await other.deleteCheckpoints([id]);
  let commits = 0;
  const overtaking = slow(shared, 1, async () => {
    // The name is taken for free at first, so that it is the second plan that makes the thread end.
    if (++commits === 3) await other.put({ id: "there", state: {} });
  });
  const thread = (await open(overtaking)).thread("t");
  await thread.put({ state: {} });
  await expect(thread.fork({ into: "empty" })).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await other.latest())?.id).toBe("there");
});

test("a compaction keeps what only a fork shows that was made, and left alone, while it began", async () => {
  const shared = memory();
  const other = (await open<{ n: number }>(slow(shared, 1))).thread("t");
  for (let n = 1; n <= 3; n += 1) await other.put({ id: `c${n}`, state: { n } });
  const inner = slow(shared, 1);
  let meanwhile: (() => Promise<unknown>) | undefined = async () => {
    await other.fork({ into: "fork" });
    await other.deleteCheckpoints(["c1", "c2"]);
  };
  const compacting = await open({
    ...inner,
    async read(asked) {
      const answers = await inner.read(asked);
      const run = asked.some((one) => "scan" in one && one.scan.table === "meta") ? meanwhile : undefined;
      if (run) meanwhile = undefined;
      await run?.();
      return answers;
    },
  });
  await compacting.compact();
  expect(meanwhile).toBeUndefined();
  const reader = await open<{ n: number }>(shared);
  expect(await idsOf(reader.thread("fork").history())).toEqual(["c3", "c2", "c1"]);
  expect((await reader.thread("fork").get("c1"))?.state).toEqual({ n: 1 });
});

test("a checkpoint is deleted, and no damage seen, whenever another store deletes others and packs move", async () => {
  for (let before = 0; before < 8; before += 1) {
    for (let later = before + 1; later < 16; later += 1) {
      const shared = memory();
      const other = (await open<{ n: number }>(slow(shared, 1), { packRows: 3 })).thread("t");
      for (let n = 0; n <= 6; n += 1) await other.put({ id: `c${n}`, state: { n } });
      const gone = ["c6", "c1"];
      const act = (): Promise<unknown> => other.deleteCheckpoints(gone.splice(0, 1));
      const thread = (await open<{ n: number }>(overtaken(shared, before, act, later))).thread("t");
      const message = `deleted before reads ${before} and ${later}`;
      expect(await thread.deleteCheckpoints(["c2"]), message).toBe(1);
      expect(await idsOf(other.history()), message).not.toContain("c2");
    }
  }
});

test("a compaction begins again, and sees no damage, where another comes in between", async () => {
  for (let before = 0; before < 24; before += 1) {
    const shared = memory();
    const other = await open<{ text: string }>(slow(shared, 1), { packRows: 3 });
    const thread = other.thread("t");
    for (let n = 0; n <= 8; n += 1) await thread.put({ id: `c${n}`, state: { text: `${n} ${"long ".repeat(60)}` } });
    const fork = await thread.fork({ at: "c4", into: "fork" });
    for (const side of [thread, fork]) {
      await side.put({ id: "c3", state: { text: "replaced" } });
      await side.deleteCheckpoints(["c2", "c4"]);
    }
    const compacting = await open(
      overtaken(shared, before, () => other.compact()),
      { packRows: 3 },
    );
    await compacting.compact();
    expect(await other.verify(), `compacted before read ${before}`).toEqual({ ok: true, faults: [] });
    expect(await idsOf(fork.history())).toEqual(["c3", "c1", "c0"]);
  }
});

test("a fork shows of nested namespaces what it did, whenever another store deletes what came after it in the root", async () => {
  for (let before = 0; before < 8; before += 1) {
    const shared = memory();
    const other = await open(slow(shared, 1));
    const thread = other.thread("t");
    const nested = other.thread("t", { namespace: ["nested"] });
    await thread.put({ id: "c1", state: {} });
    await nested.put({ id: "n1", state: {} });
    await thread.put({ id: "c2", state: {} });
    await nested.put({ id: "n2", state: {} });
    await thread.fork({ at: "c1", into: "fork" });
    const reader = await open(overtaken(shared, before, () => thread.deleteCheckpoints(["c2"])));
    const fork = reader.thread("fork", { namespace: ["nested"] });
    expect(await idsOf(fork.history()), `deleted before read ${before}`).toEqual(["n1"]);
  }
});
