import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { linesOf } from "../bundles/exported.ts";

/** Of a fork and the thread it was forked from, only one is remembered: each takes the other's place. */
async function forkedFromMoreThanFits() {
  const store = await open<{ n: number }>("memory:", { cacheBytes: 0, packRows: 3 });
  const thread = store.thread("source");
  for (let n = 0; n < 200; n += 1) await thread.put({ state: { n }, run: "r" });
  return { store, fork: await thread.fork({ into: "fork" }) };
}

test("what finds nothing to remove from a fork says so, though its history does not fit into memory", async () => {
  const { store, fork } = await forkedFromMoreThanFits();
  expect(await fork.deleteRun("another")).toBe(0);
  expect(await fork.deleteCheckpoints(["unknown"])).toBe(0);
  expect(await fork.prune({ keepLast: 200 })).toEqual({ deleted: 0, bytesReclaimed: 0 });
  expect((await fork.prune({ keepLast: 10, dryRun: true })).deleted).toBe(190);
  expect(await fork.count()).toBe(200);
  await store.close();
});

test("a bundle of what is there already changes nothing, though its history does not fit into memory", async () => {
  const { store } = await forkedFromMoreThanFits();
  expect(await store.import(await linesOf(store))).toMatchObject({ imported: 0, unchanged: 2 });
  await store.close();
});

test("replaced checkpoints of a fork's fork read and are exported, though its history does not fit into memory", async () => {
  const { store, fork } = await forkedFromMoreThanFits();
  for (let n = 200; n < 400; n += 1) await fork.put({ state: { n } });
  const replaced: string[] = [];
  for (const step of [100, 300]) {
    const { id } = (await fork.get({ step })) as { id: string };
    await fork.put({ id, state: { n: -step } });
    // Reading these goes through all three threads once more.
    await fork.putWrites(id, { task: "t", writes: [{ channel: "c", value: 1 }] });
    replaced.push(id);
  }
  const later = await fork.fork({ into: "later" });
  for (const id of replaced) {
    const { state, step } = (await later.get(id)) as { state: { n: number }; step: number };
    expect(state).toEqual({ n: -step });
    expect(await later.writes(id)).toHaveLength(1);
  }
  expect((await store.thread("source").get(replaced[0] as string))?.state).toEqual({ n: 100 });
  expect(await store.import(await linesOf(store))).toMatchObject({ imported: 0, unchanged: 3 });
  await store.close();
});
