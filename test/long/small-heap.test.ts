import { expect, test } from "vitest";
import { throughSmallHeap } from "../store/limits/small-heap.ts";
import { textOf } from "../support/texts.ts";
import { howMany } from "./campaign.ts";

test("a thread of very many checkpoints can be verified and exported with a heap of 64 MB", async () => {
  const count = howMany(20_000);
  const { ok, megabytes } = await throughSmallHeap(async (store) => {
    await store.thread("t").put({ state: { n: 0, text: "" } });
    for (let n = 1; n < count; n += 1)
      await store.thread("t").put({ update: { set: { n } }, metadata: { note: textOf(n, 1_000) } });
  });
  expect(ok).toBe(true);
  expect(megabytes).toBeGreaterThan(20);
});

test("threads with large checkpoints that are not sealed can be verified and exported with a heap of 64 MB", async () => {
  const count = howMany(2_000);
  const { ok, megabytes } = await throughSmallHeap(async (store) => {
    for (let n = 0; n < count; n += 1)
      await store.thread(`t${n % (count / 50)}`).put({ state: { n, text: textOf(n, 40_000) } });
  });
  expect(ok).toBe(true);
  expect(megabytes).toBeGreaterThan(70);
});
