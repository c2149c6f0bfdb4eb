import { expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { open } from "../../../src/index.ts";
import { backendCases, forwarding } from "../../../src/testing/index.ts";

for (const { name, requires, run } of backendCases) {
  test(`a forwarding backend is a backend like the one it forwards to: ${name}`, async ({ skip }) => {
    const backend = memory();
    if (requires !== undefined && !backend.capabilities[requires]) skip(`memory lacks ${requires}`);
    const kept = forwarding(backend, { close: async () => {} });
    await run(async () => forwarding(kept));
    await backend.close();
  });
}

test("an override of a forwarding backend replaces one method and leaves the others", async () => {
  const backend = memory();
  let commits = 0;
  const counted = forwarding(backend, {
    commit(batches) {
      commits += 1;
      return backend.commit(batches);
    },
  });
  await using store = await open<{ n: number }>(counted);
  await store.thread("t").put({ state: { n: 1 } });
  expect(commits).toBe(1);
  expect((await store.thread("t").latest())?.state).toEqual({ n: 1 });
});

test("an override of undefined takes an optional member of a forwarding backend away", () => {
  const backend: Backend = Object.assign(memory(), { interruptions: 3 });
  expect(forwarding(backend).interruptions).toBe(3);
  expect(forwarding(backend, { interruptions: undefined }).interruptions).toBeUndefined();
});

test("a forwarding backend tells its whole size only where its backend does without counting", async () => {
  expect(forwarding(memory()).total).toBeUndefined();
  const backend = await sqlite(":memory:");
  expect(await forwarding(backend).total?.()).toEqual(await backend.total?.());
  await backend.close();
});

test("a forwarding backend shows the interruptions that its backend counts later", () => {
  let interruptions = 0;
  const counting = forwarding(memory(), {
    get interruptions() {
      return interruptions;
    },
  });
  const outer = forwarding(counting);
  expect(outer.interruptions).toBe(0);
  interruptions = 1;
  expect(outer.interruptions).toBe(1);
});
