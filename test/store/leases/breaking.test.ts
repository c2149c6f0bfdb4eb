import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { campaignLocations } from "../../support/places.ts";

const YEAR = 365 * 24 * 3_600_000;

it.each(campaignLocations)("a lease taken under a clock a year ahead can be broken, on $name", async ({ make }) => {
  const place = await make();
  const ahead = await open<{ n: number }>(place.url, { ...place.options, clock: () => 1_000 + YEAR });
  await ahead.thread("t").put({ state: { n: 0 } });
  const stale = await ahead.thread("t").acquire({ holder: "worker-7", ttl: 30_000 });
  if (!place.shared) await ahead.close();
  const store = await open<{ n: number }>(place.url, { ...place.options, clock: () => 1_000 });
  const thread = store.thread("t");
  await expect(thread.put({ state: { n: 1 } })).rejects.toMatchObject({ code: "BUSY", holder: "worker-7" });
  const expiresAt = 1_000 + YEAR + 30_000;
  const held = { holder: "worker-7", epoch: 1, expiresAt, remaining: YEAR + 30_000 };
  expect(await thread.lease()).toEqual({ held, taken: true, broken: [] });
  const broken = { holder: "worker-7", epoch: 1, expiresAt, at: 1_000, by: "ops", reason: "its clock" };
  expect(await thread.breakLease({ by: "ops", reason: "its clock" })).toEqual(broken);
  expect(await thread.lease()).toEqual({ held: null, taken: true, broken: [broken] });
  await expect(thread.put({ state: { n: 2 } }, { lease: stale })).rejects.toMatchObject({ code: "FENCED" });
  await thread.put({ state: { n: 3 } });
  const next = await thread.acquire({ holder: "worker-8", ttl: 5_000 });
  expect(next.epoch).toBe(2);
  await expect(thread.put({ state: { n: 4 } }, { lease: stale })).rejects.toMatchObject({ code: "FENCED" });
  await thread.put({ state: { n: 5 } }, { lease: next });
  expect(await thread.breakLease()).toMatchObject({ holder: "worker-8", epoch: 2, by: null, reason: null });
  expect(await thread.breakLease()).toBeUndefined();
  await store.close();
  const later = await open<{ n: number }>(place.url, place.options);
  expect((await later.thread("t").lease()).broken.map(({ epoch }) => epoch)).toEqual([2, 1]);
  expect(await later.verify()).toEqual({ ok: true, faults: [] });
  await later.close();
  await place.cleanup();
});

it("a thread remembers its last ten broken leases", async () => {
  const store = await open("memory:");
  const thread = store.thread("t");
  for (let n = 1; n <= 12; n += 1) {
    await thread.acquire({ holder: `h${n}`, ttl: 1_000 });
    await thread.breakLease();
  }
  expect((await thread.lease()).broken.map(({ epoch }) => epoch)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  await store.close();
});

it("breaking where there is no lease, or no thread, writes nothing; odd options are a TypeError", async () => {
  const store = await open("memory:");
  expect(await store.thread("none").breakLease({ reason: "why not" })).toBeUndefined();
  expect(await store.thread("none").lease()).toEqual({ held: null, taken: false, broken: [] });
  expect((await store.measure()).bytes.directory).toBe(0);
  await expect(store.thread("t").breakLease({ by: 7 as unknown as string })).rejects.toThrow(TypeError);
  await expect(store.thread("t").breakLease({ reason: "x".repeat(513) })).rejects.toThrow(TypeError);
  await expect(store.thread("t", { namespace: ["n"] }).breakLease()).rejects.toThrow(TypeError);
  await store.close();
});
