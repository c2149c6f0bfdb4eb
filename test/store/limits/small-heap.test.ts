import { expect, test } from "vitest";
import { textOf } from "../../support/texts.ts";
import { throughSmallHeap } from "./small-heap.ts";

test("a thread of 80 MB can be verified and exported with a heap of 64 MB", async () => {
  const { ok, megabytes } = await throughSmallHeap(async (store) => {
    for (let n = 0; n < 2_000; n += 1) await store.thread("t").put({ state: { n, text: textOf(n, 40_000) } });
  });
  expect(ok).toBe(true);
  expect(megabytes).toBeGreaterThan(70);
});
