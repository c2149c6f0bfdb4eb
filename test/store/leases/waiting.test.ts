import { expect, it } from "vitest";
import { open } from "../../../src/index.ts";

it("acquire waits for a lease that is held, as long as it is told to, and not past an abort", async () => {
  const store = await open("memory:");
  const thread = store.thread("t");
  const first = await thread.acquire({ ttl: 60_000 });
  expect(first.holder).not.toBe("");
  await expect(thread.acquire({ ttl: 1_000 })).rejects.toMatchObject({ code: "BUSY", holder: first.holder });
  await expect(thread.acquire({ ttl: 1_000, wait: 20 })).rejects.toMatchObject({ code: "BUSY" });
  const reason = new Error("enough");
  const controller = new AbortController();
  const aborted = thread.acquire({ wait: true, signal: controller.signal });
  controller.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  const second = thread.acquire({ holder: "b", wait: true });
  await first.release();
  expect((await second).holder).toBe("b");
  await store.close();
});

it("a lease that is kept alive outlives its time to live, and its signal aborts once it is lost", async () => {
  const store = await open("memory:");
  const thread = store.thread("t");
  const lease = await thread.acquire({ ttl: 90 });
  const lost = lease.keepAlive();
  expect(lease.keepAlive()).toBe(lost);
  const { expiresAt } = lease;
  await expect.poll(() => lease.expiresAt, { timeout: 10_000 }).toBeGreaterThan(expiresAt);
  expect(lost.aborted).toBe(false);
  await thread.breakLease();
  await expect.poll(() => lost.aborted, { timeout: 10_000 }).toBe(true);
  expect(lost.reason).toMatchObject({ code: "FENCED" });
  const again = await thread.acquire({ ttl: 90 });
  const kept = again.keepAlive();
  await again.release();
  expect(kept.aborted).toBe(false);
  await store.close();
});
