import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { linesOf } from "../bundles/exported.ts";

test("a fork whose source another store has compacted is imported as what it is: unchanged", async () => {
  const backend = memory();
  const [first, second] = [await open(backend, { packRows: 3 }), await open(backend, { packRows: 3 })];
  const source = first.thread("source");
  for (let n = 0; n < 14; n += 1) await source.put({ id: `c${n}`, state: { n, text: "x".repeat(n) } });
  await source.fork({ at: "c10", into: "fork" });
  const bundle = await linesOf(first, ["fork"]);
  for await (const _ of first.thread("fork").history({ states: true }));
  await second.thread("source").deleteCheckpoints(["c11", "c12", "c13"]);
  for (const id of ["c3", "c4", "c5", "c7"]) {
    await second.thread("source").deleteCheckpoints([id]);
    await second.thread("fork").deleteCheckpoints([id]);
  }
  await second.compact();
  const now = await linesOf(second, ["fork"]);
  expect(await first.import(now)).toMatchObject({ imported: 0, unchanged: 1 });
  await expect(first.import(bundle)).rejects.toMatchObject({ code: "CONFLICT" });
});

test("what a checkpoint takes is told, whatever another store has moved", async () => {
  const backend = memory();
  const [first, second] = [await open(backend, { packRows: 3 }), await open(backend, { packRows: 3 })];
  const source = first.thread("source");
  for (let n = 0; n < 14; n += 1) await source.put({ id: `c${n}`, state: { n, text: "x".repeat(n) } });
  const fork = await source.fork({ at: "c10", into: "fork" });
  for await (const _ of fork.history({ states: true }));
  await second.thread("source").deleteCheckpoints(["c11", "c12", "c13"]);
  await second.compact();
  for await (const { id } of fork.history()) expect((await fork.sizeOf(id)).bytes).toBeGreaterThan(0);
});
