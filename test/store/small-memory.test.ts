import { expect, test } from "vitest";
import { open } from "../../src/index.ts";

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
  const lines: string[] = [];
  for await (const line of store.export()) lines.push(line);
  expect(await store.import(lines)).toMatchObject({ imported: 0, unchanged: 2 });
  await store.close();
});
