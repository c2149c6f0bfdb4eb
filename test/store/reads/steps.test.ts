import { expect, test } from "vitest";
import type { Read } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const LENGTH = 2_000;

/** A store with one long thread, and a way to count the records of packs that one call of a new store reads. */
async function longThread() {
  const inner = memory();
  let packs = 0;
  const read = async (asked: readonly Read[]) => {
    const answers = await inner.read(asked);
    for (const [index, one] of asked.entries())
      if ("scan" in one && one.scan.table === "rows") packs += (answers[index] as readonly unknown[]).length;
    return answers;
  };
  const backend = sharedBackend(forwarding(inner, { read }));
  const store = await open<{ n: number }>(backend);
  const thread = store.thread("t");
  await Promise.all(Array.from({ length: LENGTH }, (_, n) => thread.put({ state: { n } })));
  return {
    thread,
    cold: async <T>(look: (one: typeof thread) => Promise<T>): Promise<[T, number]> => {
      const other = await open<{ n: number }>(backend);
      packs = 0;
      const found = await look(other.thread("t"));
      await other.close();
      return [found, packs];
    },
  };
}

test("a labelled thread finds a step by halving, and shows the label", async () => {
  const { thread, cold } = await longThread();
  await thread.label({ step: 3 }, "early");
  await thread.label({ step: LENGTH - 1 }, "late");
  for (const step of [3, 700, LENGTH - 1]) {
    const [found, packs] = await cold((one) => one.get({ step }));
    expect([found?.state.n, found?.label]).toEqual([step, step === 3 ? "early" : step === 700 ? "" : "late"]);
    expect(packs).toBeLessThan(8);
  }
});

test("a step beyond the last, and the greatest step, are known without a walk through the history", async () => {
  const { thread, cold } = await longThread();
  expect(await cold((one) => one.get({ step: LENGTH }))).toEqual([undefined, 0]);
  const [greatest, packs] = await cold((one) => one.latest({ by: "step" }));
  expect([greatest?.step, packs]).toEqual([LENGTH - 1, 0]);
  // Steps that go back, in the tail: the greatest is still found, ties go to the last committed.
  await thread.put({ state: { n: -1 }, step: 5 });
  await thread.put({ state: { n: -2 }, step: LENGTH - 1 });
  await thread.put({ state: { n: -3 }, step: 7 });
  const [[five], [most]] = [await cold((one) => one.get({ step: 5 })), await cold((one) => one.latest({ by: "step" }))];
  expect([five?.state.n, most?.state.n]).toEqual([-1, -2]);
  expect((await cold((one) => one.latest({ by: "step" })))[1]).toBe(0);
});
