import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { idsOf } from "../../support/collect.ts";
import { overtaken, slow } from "./slow-backends.ts";

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
