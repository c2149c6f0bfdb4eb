import { expect, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { records, storeWith, threadmark } from "./run.ts";

async function described(store: Store<Record<string, unknown>>): Promise<void> {
  await store.thread("a").put({ state: {}, run: "r1", attributes: { tenant: "acme", cost: 2, open: true } });
  await store.thread("b").put({ state: {}, run: "r2", attributes: { tenant: "acme", cost: 3, open: false } });
  await store.thread("c").put({ state: {}, run: "r2", attributes: { tenant: "2" } });
}

async function found(url: string, ...options: readonly string[]): Promise<readonly unknown[]> {
  const { out } = await threadmark(["threads", url, "--json", "--order", "id", ...options]);
  return records(out).map((record) => (record as { id: string }).id);
}

test("threads are found by run and by attributes of every type", async () => {
  const url = await storeWith(described);
  expect(await found(url, "--where", "tenant=acme")).toEqual(["a", "b"]);
  expect(await found(url, "--where", "tenant=acme", "--where", "open=true")).toEqual(["a"]);
  expect(await found(url, "--where", "cost=3", "--run", "r2")).toEqual(["b"]);
  expect(await found(url, "--where", 'tenant="2"')).toEqual(["c"]);
  expect(await found(url, "--where", "tenant=2")).toEqual([]);
  expect(await found(url, "--run", "r2")).toEqual(["b", "c"]);
  const wrong = await threadmark(["threads", url, "--where", "tenant"]);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain("a name, = and a value");
});
