import { expect, test } from "vitest";
import { seed, served } from "./support/seed.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of many forms; each test looks at what it is about.
const json = async (response: Promise<Response>): Promise<any> => {
  const answer = await response;
  return { status: answer.status, ...((await answer.json()) as object) };
};

test("threads come newest first, searched, filtered and in pages", async () => {
  const { store, get } = await served();
  await seed(store);
  // A list that could not be made in time says so, and the page asks again.
  let page = await json(get("threads", { limit: 2 }));
  while (!page.complete) page = await json(get("threads", { limit: 2 }));
  expect(page).toMatchObject({ total: 4, workflows: ["import", "support"] });
  expect(page.threads.map(({ id }: { id: string }) => id)).toEqual(["order-17-again", "import-9"]);
  expect(page.statuses).toEqual({ paused: 1, failed: 1, waiting: 1, done: 1 });
  const rest = await json(get("threads", { limit: 2, offset: 2 }));
  expect(rest.threads.map(({ id }: { id: string }) => id)).toEqual(["refund-4", "order-17"]);
  expect((await json(get("threads", { search: "ORDER" }))).total).toBe(2);
  expect((await json(get("threads", { status: "failed" }))).threads[0].id).toBe("import-9");
  expect((await json(get("threads", { workflow: "support" }))).total).toBe(3);
});

test("a thread tells its nested graphs and its forks", async () => {
  const { store, get } = await served();
  await seed(store);
  const { thread, namespaces, forks } = await json(get("thread", { thread: "order-17" }));
  expect(thread).toMatchObject({ id: "order-17", status: "done", checkpoints: 7 });
  expect(namespaces).toMatchObject([{ namespace: ["look-up", "2.0"], checkpoints: 2, head: { node: "ask" } }]);
  expect(forks).toMatchObject([{ thread: "order-17-again" }]);
  expect(await json(get("thread", { thread: "nobody" }))).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
});

test("a nested graph is shown as it goes on, and as it is after a change made here", async () => {
  const { store, get, post } = await served();
  const outer = store.thread("t");
  const head = await outer.put({ state: {}, next: ["sub"] });
  const nested = store.thread("t", { namespace: ["sub", "0.0"] });
  const shown = async (): Promise<[string | null, number][]> => {
    const { namespaces } = await json(get("thread", { thread: "t" }));
    return namespaces.map(({ head, checkpoints }: { head: { node: string | null }; checkpoints: number }) => [
      head.node,
      checkpoints,
    ]);
  };
  expect(await shown()).toEqual([]);
  await nested.put({ state: {}, source: "input", next: ["a"] });
  expect(await shown()).toEqual([[null, 1]]);
  const last = await nested.put({ state: {}, node: "a" });
  expect(await shown()).toEqual([["a", 2]]);
  await store.thread("t", { namespace: ["sub", "0.1"] }).put({ state: {}, node: "b" });
  expect(await shown()).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  await post("delete", { thread: "t", namespace: ["sub", "0.0"], checkpoint: last.id });
  expect(await shown()).toEqual([
    [null, 1],
    ["b", 1],
  ]);
  await post("delete", { thread: "t", checkpoint: head.id });
  expect((await json(get("thread", { thread: "t" }))).namespaces).toHaveLength(2);
});

test("history is read in pages, also of nested graphs", async () => {
  const { store, get } = await served();
  await seed(store);
  const first = await json(get("history", { thread: "order-17", limit: 2 }));
  expect([first.checkpoints.map(({ step }: { step: number }) => step), first.more]).toEqual([[3, 2], true]);
  const rest = await json(get("history", { thread: "order-17", before: first.checkpoints[1].seq }));
  expect([rest.checkpoints.map(({ step }: { step: number }) => step), rest.more]).toEqual([[2, 1, 0], false]);
  const nested = await json(get("history", { thread: "order-17", namespace: ["look-up", "2.0"] }));
  expect(nested.checkpoints).toHaveLength(2);
});

test("a checkpoint tells what is next, what it asks, its writes and its bytes; marks tell which failed", async () => {
  const { store, get } = await served();
  await seed(store);
  const head = (await store.thread("refund-4").latest())!;
  const facts = await json(get("checkpoint", { thread: "refund-4", checkpoint: head.id }));
  expect(facts).toMatchObject({
    next: [{ node: "review", task: "1.0", arg: null }],
    interrupts: [{ id: "1.0#0", node: "review", answered: false }],
    size: { full: expect.any(Boolean), bytes: expect.any(Number) },
  });
  const failed = (await store.thread("import-9").latest())!;
  const { marks } = await json(get("marks", { thread: "import-9", checkpoints: [failed.id] }));
  expect(marks[failed.id]).toEqual({ writes: 2, failed: true, asks: false });
});

test("a state is read part by part, rich types as what they are", async () => {
  const { store, get } = await served();
  await seed(store);
  const { id } = (await store.thread("order-17").latest())!;
  const place = { thread: "order-17", checkpoint: id };
  const root = await json(get("state", place));
  const types = root.children.map(({ label, type, text }: Record<string, string>) => [label, type, text]);
  expect(types).toEqual([
    ["customer", "object", '{ name: "Ada", since: 1970-01-01T00:00:00.000Z }'],
    ["messages", "array", '[{ role: "user", text: "Where is my ord…" }, { role: "assistant", text: "Which parc…" }]'],
    ["total", "bigint", "129900n"],
    ["tools", "set", '{ "search", "refund" }'],
    ["parcels", "map", '{ "DHL-1" → { weight: 1.5, … +1 } }'],
    ["page", "url", "https://example.org/order/17"],
    ["pattern", "regexp", "/^DHL-\\d+$/u"],
    ["nothing", "undefined", "undefined"],
    ["plan", "array", '["ask first"]'],
  ]);
  const parcel = await json(get("state", { ...place, path: ["parcels", 0] }));
  expect(parcel.children[1]).toMatchObject({ label: "dimensions", type: "Float32Array", length: 12 });
  const { value } = await json(get("state/value", { ...place, path: ["customer", "since"] }));
  expect(value).toEqual({ $: "date", v: 0 });
  expect((await json(get("state", { ...place, path: ["messages", 9] }))).status).toBe(404);
});

test("long lists and texts are read in parts, and searched by the server", async () => {
  const { store, get } = await served();
  const text = "é".repeat(50_000);
  const { id } = await store
    .thread("big")
    .put({ state: { list: Array.from({ length: 5_000 }, (_, n) => ({ n, name: `item ${n}` })), text } });
  const place = { thread: "big", checkpoint: id };
  const page = await json(get("state", { ...place, path: ["list"], offset: 4_990, limit: 5 }));
  expect([page.parts, page.children.length, page.children[0].step]).toEqual([5_000, 5, 4_990]);
  const part = await json(get("state/text", { ...place, path: ["text"], offset: 49_990, limit: 100 }));
  expect(part).toMatchObject({ text: "é".repeat(10), length: 50_000 });
  const { matches, more } = await json(get("state/search", { ...place, query: "ITEM 4321" }));
  expect([matches.map(({ path }: { path: unknown }) => path), more]).toEqual([[["list", 4321, "name"]], false]);
  expect((await json(get("state/search", { ...place, query: "item" }))).more).toBe(true);
});

test("two states are compared", async () => {
  const { store, get } = await served();
  await seed(store);
  const thread = store.thread("order-17");
  const [before, after] = [(await thread.get({ step: 0 }))!.id, (await thread.get({ step: 1 }))!.id];
  const diff = await json(get("diff", { thread: "order-17", before, after }));
  expect(diff).toMatchObject({
    total: 1,
    changes: [{ path: ["plan"], kind: "added", after: { type: "array", parts: 2 } }],
  });
  expect(diff.changes[0].after.children).toMatchObject([
    { label: "0", text: "look up" },
    { label: "1", text: "answer" },
  ]);
  const list = Array.from({ length: 10_000 }, (_, n) => ({ n, deep: { n, list: [n] } }));
  const [small, large] = [
    await store.thread("big").put({ state: {} }),
    await store.thread("big").put({ state: { list } }),
  ];
  const big = await get("diff", { thread: "big", before: small.id, after: large.id });
  expect((await big.text()).length).toBeLessThan(20_000);
});

test("a fork is made with edits of any type, and an occupied name is a conflict", async () => {
  const { store, get, post } = await served();
  await seed(store);
  const at = (await store.thread("order-17").get({ step: 0 }))!.id;
  const { name } = await json(get("free-name", { thread: "order-17" }));
  expect(name).toBe("order-17-fork");
  const edits = { total: { $: "bigint", v: "5" }, plan: ["x"] };
  const body = { thread: "order-17", checkpoint: at, into: name, edits, label: "try" };
  expect(await json(post("fork", body))).toMatchObject({ status: 200, thread: name });
  const head = await store.thread(name).latest();
  expect([head?.state.total, head?.state.plan, head?.label]).toEqual([5n, ["x"], "try"]);
  expect(await json(post("fork", body))).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
  const wrong = await json(post("fork", { ...body, into: "y", edits: { a: { $: "no such tag" } } }));
  expect(wrong).toMatchObject({ status: 400, error: { code: "INVALID" } });
});

test("an answer is stored as the runtime reads it, only where it was asked", async () => {
  const { store, post } = await served();
  await seed(store);
  const head = (await store.thread("refund-4").latest())!;
  const body = { thread: "refund-4", checkpoint: head.id, interrupt: "1.0#0", value: { $: "bigint", v: "1" } };
  expect(await json(post("answer", { ...body, interrupt: "9.9#0" }))).toMatchObject({ status: 404 });
  expect(await json(post("answer", { ...body, checkpoint: head.parent }))).toMatchObject({ status: 409 });
  expect(await json(post("answer", body))).toMatchObject({ status: 200 });
  expect(await store.thread("refund-4").writes(head.id)).toEqual([
    { task: "1.0#0", node: null, index: -4, channel: "answer", value: 1n },
  ]);
});

test("labels, prunes with a preview, deletions and exports", async () => {
  const { store, get, post } = await served();
  await seed(store);
  const thread = store.thread("order-17");
  const head = (await thread.latest())!;
  await post("label", { thread: "order-17", checkpoint: head.id, label: "kept" });
  expect((await thread.latest())?.label).toBe("kept");
  const rules = { thread: "order-17", keepLast: 1, keepLabelled: true };
  const preview = await json(post("prune/preview", rules));
  expect(preview).toMatchObject({ threads: 1, deleted: 4 });
  expect(await thread.count()).toBe(5);
  const { status: _, ...pruned } = await json(post("prune", rules));
  expect({ status: 200, ...pruned }).toEqual(preview);
  expect(await thread.count()).toBe(2);
  expect(await json(post("delete", { thread: "order-17", checkpoint: head.id }))).toMatchObject({ deleted: 1 });
  expect(await json(post("delete", { thread: "order-17", checkpoint: head.id }))).toMatchObject({ status: 404 });
  const bundle = await (await get("export", { thread: "refund-4" })).text();
  expect(bundle.trim().split("\n")).toHaveLength(6);
  expect((await get("export", { thread: "nobody" })).status).toBe(404);
  expect(await json(post("delete", { thread: "refund-4" }))).toMatchObject({ deleted: "refund-4" });
  expect((await json(get("threads"))).threads.map(({ id }: { id: string }) => id)).not.toContain("refund-4");
});

test("storage is measured behind the scenes: bytes by kind and thread, growth", async () => {
  const { store, get, post } = await served();
  await seed(store);
  expect((await json(get("storage"))).state).toBe("none");
  await post("storage/measure", {});
  let facts = await json(get("storage"));
  while (facts.state === "running") facts = await json(get("storage"));
  expect(facts).toMatchObject({ state: "done", total: 4, stats: { threads: 4 } });
  const sizes: { thread: string; bytes: { total: number } }[] = facts.sizes;
  expect(sizes[0]?.thread).toBe("order-17");
  expect(facts.growth.at(-1).bytes).toBeGreaterThan(facts.growth[0].bytes);
  const rules = { keepLast: 1, keepLabelled: true };
  const { status: _, ...preview } = await json(post("prune/preview", rules));
  expect(preview.deleted).toBeGreaterThan(0);
  expect(facts.prunes[0]).toEqual({ keepLast: 1, ...preview });
  expect(facts.prunes[2]).toEqual({ keepLast: 100, threads: 0, deleted: 0, bytesReclaimed: 0 });
  for (const { thread, bytes } of sizes) expect(bytes).toEqual((await store.thread(thread).size()).bytes);
});

test("with --read-only nothing can be changed, and everything looked at", async () => {
  const { store, get, post } = await served({ readOnly: true });
  await seed(store);
  const head = (await store.thread("refund-4").latest())!;
  const place = { thread: "refund-4", checkpoint: head.id };
  const changes: [string, object][] = [
    ["fork", place],
    ["answer", { ...place, interrupt: "1.0#0", value: 1 }],
    ["label", { ...place, label: "x" }],
    ["prune", { thread: "refund-4", keepLast: 1 }],
    ["delete", { thread: "refund-4" }],
  ];
  for (const [path, body] of changes) {
    expect(await json(post(path, body))).toMatchObject({ status: 403, error: { code: "READ_ONLY" } });
  }
  expect(await json(get("export", { thread: "refund-4" }))).toMatchObject({
    status: 403,
    error: { code: "READ_ONLY" },
  });
  expect(await json(get("store"))).toMatchObject({ readOnly: true });
  expect(await json(post("prune/preview", { thread: "refund-4", keepLast: 1 }))).toMatchObject({ deleted: 1 });
  expect((await store.thread("refund-4").latest())?.id).toBe(head.id);
});
