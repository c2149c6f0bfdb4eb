import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";

test("forks and copies are found by the time that they tell, however the clock moves while they are made", async () => {
  let now = 1_750_000_000_000;
  // Each look at the clock is in another second than most of those before it.
  await using store = await open<{ n: number }>("memory:", { clock: () => (now += 700) });
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 1 } });
  const later = await thread.put({ state: { n: 2 }, createdAt: now + 60_000 });
  for (let round = 0; round < 4; round += 1) {
    await thread.fork({ at: id, into: `fork-${round}` });
    await thread.fork({ at: id, into: `edited-${round}`, edits: { n: 3 } });
    await thread.fork({ at: later.id, into: `future-${round}` });
    await thread.copy(`copy-${round}`);
  }
  expect((await store.verify()).faults).toEqual([]);
  for (const { id, updatedAt } of await collect(store.threads())) {
    const found = await collect(store.threads({ order: "updated", updatedAfter: updatedAt - 1 }));
    expect(found.map((one) => one.id)).toContain(id);
  }
});

test("a fork is found by the time that it tells, although a nested checkpoint is later than the clock that made the fork", async () => {
  let now = 1_750_000_000_000;
  await using store = await open<{ n: number }>("memory:", { clock: () => now });
  const { id } = await store.thread("t").put({ state: { n: 1 } });
  await store.thread("t", { namespace: ["inner"] }).put({ state: { n: 2 } });
  now -= 5_000;
  const fork = await store.thread("t").fork({ at: id });
  expect((await fork.info())?.updatedAt).toBe(now);
  expect((await store.verify()).faults).toEqual([]);
});
