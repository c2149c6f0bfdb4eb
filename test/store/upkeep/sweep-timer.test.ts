import { channel } from "node:diagnostics_channel";
import { expect, test, vi } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

const patience = { timeout: 20_000, interval: 10 };

test("a store with every sweeps by itself, and tells when the next sweep is due", async () => {
  const store = await open("memory:", { retention: { checkpoints: { keepLast: 1 }, every: 20 } });
  const thread = store.thread("t");
  for (let n = 0; n < 5; n += 1) await thread.put({ state: { n } });
  await vi.waitFor(async () => expect(await thread.count()).toBe(1), patience);
  await vi.waitFor(async () => expect((await store.stats()).sweep?.next).toBeGreaterThan(0), patience);
  await store.close();
});

test("of two stores that sweep by themselves each sweeps where the other has not, and neither throws", async () => {
  const shared = memory();
  const backend = forwarding(shared, { close: async () => {} });
  const retention = { checkpoints: { keepLast: 1 }, every: 5 } as const;
  const stores = await Promise.all([open(backend, { retention }), open(backend, { retention })]);
  const [first] = stores;
  for (let n = 0; n < 20; n += 1) await first?.thread("t").put({ state: { n } });
  await vi.waitFor(async () => expect(await first?.thread("t").count()).toBe(1), patience);
  await Promise.all(stores.map((store) => store.close()));
});

test("a sweep by itself that fails is told on its channel, and the next one is tried", async () => {
  const backend = memory();
  let failing = true;
  const faulty = forwarding(backend, {
    read: (reads) =>
      failing && reads.some((read) => "find" in read) ? Promise.reject(new Error("no")) : backend.read(reads),
  });
  const told: { readonly error?: unknown }[] = [];
  const hear = (message: unknown): void => void told.push(message as { readonly error?: unknown });
  channel("threadmark:sweep").subscribe(hear);
  try {
    const store = await open(faulty, { retention: { checkpoints: { keepLast: 1 }, every: 5 } });
    await vi.waitFor(() => expect(told.some(({ error }) => error instanceof Error)).toBe(true), patience);
    failing = false;
    await vi.waitFor(async () => expect((await store.stats()).sweep).not.toBeNull(), patience);
    await store.close();
  } finally {
    channel("threadmark:sweep").unsubscribe(hear);
  }
});
