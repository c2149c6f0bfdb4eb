import { expect, test } from "vitest";
import type { Store } from "../../../src/index.ts";
import { records, storeWith, threadmark } from "../run.ts";

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

test("threads are found by several statuses, and an unknown one is wrong usage", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("done").put({ state: {} });
    await store.thread("paused").put({ state: {}, next: ["more"] });
    await store.thread("waiting").put({ state: {}, next: ["ask"], interrupts: [{ id: "q", node: "ask", value: 1 }] });
  });
  expect(await found(url, "--status", "paused", "--status", "waiting")).toEqual(["paused", "waiting"]);
  expect(await found(url, "--status", "done")).toEqual(["done"]);
  const wrong = await threadmark(["threads", url, "--status", "idle"]);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("Allowed choices are running, waiting")]);
});

test("prune --all prunes the threads that its filters name", async () => {
  const url = await storeWith(async (store) => {
    for (const [id, tenant] of [
      ["a", "acme"],
      ["b", "acme"],
      ["c", "other"],
    ] as const) {
      for (let n = 0; n < 3; n += 1)
        await store.thread(id).put({ state: { n }, workflow: "w", attributes: { tenant } });
    }
    await store.thread("b").put({ state: {}, next: ["more"] });
    await store.thread("short").put({ state: {}, workflow: "w", attributes: { tenant: "acme" } });
  });
  const pruned = async (...options: readonly string[]): Promise<readonly unknown[]> => {
    const { out } = await threadmark(["prune", "--all", url, "--keep-last", "1", "--yes", "--json", ...options]);
    return records(out).map((record) => [record["thread"], record["deleted"]]);
  };
  expect(await pruned("--workflow", "other")).toEqual([]);
  expect(await pruned("--where", "tenant=acme", "--status", "done")).toEqual([["a", 2]]);
  expect(await pruned("--dry-run")).toEqual([
    ["b", 3],
    ["c", 2],
  ]);
  expect(await pruned()).toEqual([
    ["b", 3],
    ["c", 2],
  ]);
  const wrong = await threadmark(["prune", "a", url, "--keep-last", "1", "--status", "done"]);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("go with --all")]);
});

test("stats tells everything of a small store, as stats --measure does", async () => {
  const url = await storeWith(described);
  const of = async (...options: readonly string[]): Promise<unknown> => {
    const [stats] = records((await threadmark(["stats", url, ...options, "--json"])).out);
    return stats;
  };
  expect(await of()).toMatchObject({ threads: 3, checkpoints: 3, stateVersions: { 0: 3 } });
  expect(await of("--measure")).toEqual(await of());
  const { out, err } = await threadmark(["stats", url]);
  expect([out, err]).toEqual([expect.stringMatching(/^entries +\S+ \S+ +finding threads by anything else$/m), ""]);
});

test("stats of a larger store tells what it knows without reading it, and names the option that reads it", async () => {
  const url = await storeWith(async (store) => {
    for (let n = 0; n < 9; n += 1) await store.thread(`t${n}`).put({ state: { text: `${n}`.repeat(8_000_000) } });
  });
  const { out, err } = await threadmark(["stats", url]);
  expect(out).toMatch(
    /^threads +9\ntotal +\S+ MB +on the medium\nencryption +none\nlast sweep +none\nlast backup +none noted\n$/,
  );
  expect(err).toMatch(/^--measure reads everything/);
  const [stats] = records((await threadmark(["stats", url, "--json"])).out);
  expect(stats).toMatchObject({ checkpoints: null, bytes: { packs: null, total: expect.any(Number) } });
  const [measured] = records((await threadmark(["stats", url, "--measure", "--json"])).out);
  expect(measured).toMatchObject({ checkpoints: 9, bytes: { packs: expect.any(Number) } });
});

test("reindex says how many threads it has gone through", async () => {
  const url = await storeWith(described);
  expect((await threadmark(["reindex", url])).err).toContain("3 threads indexed.");
  expect(records((await threadmark(["reindex", url, "--json"])).out)).toEqual([{ threads: 3 }]);
  expect((await threadmark(["verify", url])).code).toBe(0);
});

test("threads shows attributes, and inbox asks for them", async () => {
  const url = await storeWith(async (store) => {
    for (const tenant of ["acme", "other"]) {
      const interrupts = [{ id: `q-${tenant}`, node: "ask", value: "Sure?" }];
      await store.thread(tenant).put({ state: {}, next: ["ask"], interrupts, attributes: { tenant, cost: 2 } });
    }
  });
  expect((await threadmark(["threads", url])).out).toContain("tenant=acme cost=2");
  const { out } = await threadmark(["inbox", url, "--where", "tenant=acme", "--json"]);
  expect(records(out).map(({ thread, id }) => [thread, id])).toEqual([["acme", "q-acme"]]);
});
