import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Thread } from "../../../src/api/thread.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { idsOf } from "../../support/collect.ts";
import { seals } from "../../support/seals.ts";
import { overtaken, slow, turns } from "./slow-backends.ts";

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
  await seals();
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
