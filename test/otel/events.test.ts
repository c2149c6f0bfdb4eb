import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import type { Diagnostics } from "../../src/otel/index.ts";
import { END, graph, START } from "../../src/runtime/index.ts";
import { forwarding, sharedMemory } from "../../src/testing/index.ts";

/** Collects the messages of a channel until the test ends. */
function heard<Name extends keyof Diagnostics>(name: Name): Diagnostics[Name][] {
  const messages: Diagnostics[Name][] = [];
  const listener = (message: unknown): void => void messages.push(message as Diagnostics[Name]);
  subscribe(`threadmark:${name}`, listener);
  onTestFinished(() => void unsubscribe(`threadmark:${name}`, listener));
  return messages;
}

test("a put is a commit, and a fresh store's read is a read, with their backend and duration", async () => {
  const [commits, reads] = [heard("commit"), heard("read")];
  const place = sharedMemory();
  const store = await open<{ n: number }>(place);
  await store.thread("t").put({ state: { n: 1 } });
  expect(commits).toMatchObject([{ backend: "memory", count: 1, refused: 0 }]);
  reads.length = 0;
  await (await open<{ n: number }>(place)).thread("t").latest();
  expect(reads.length).toBeGreaterThan(0);
  for (const { backend, count, duration } of [...reads, ...commits]) {
    expect(backend).toBe("memory");
    expect(count).toBeGreaterThan(0);
    expect(duration).toBeGreaterThanOrEqual(0);
  }
});

test("a commit that fails is announced with its error", async () => {
  const commits = heard("commit");
  const fault = new Error("the disk is gone");
  const store = await open<{ n: number }>(forwarding(sharedMemory(), { commit: () => Promise.reject(fault) }));
  await expect(store.thread("t").put({ state: { n: 1 } })).rejects.toThrow("the disk is gone");
  expect(commits).toMatchObject([{ error: fault }]);
});

test("a long thread announces its seals, and a prune its sweep", async () => {
  const [seals, sweeps] = [heard("seal"), heard("sweep")];
  const store = await open<{ n: number }>("memory:", { packRows: 4 });
  const thread = store.thread("t");
  for (let n = 0; n < 20; n++) await thread.put({ state: { n } });
  expect(seals.length).toBeGreaterThan(0);
  // Seals run beside the puts: in a tight loop they may take several packs at once.
  for (const seal of seals) {
    const { thread: of, packs, rows } = seal as { thread: string; packs: number; rows: number };
    expect([of, rows]).toEqual(["t", packs * 4]);
  }
  await thread.prune({ keepLast: 2, dryRun: true });
  expect(sweeps).toEqual([]);
  const { deleted, bytesReclaimed } = await thread.prune({ keepLast: 2 });
  expect(sweeps).toEqual([{ thread: "t", deleted, bytesReclaimed }]);
  await store.compact();
  expect(sweeps.length).toBe(2);
});

test("a refused expectation is a conflict, a lost lease a fence", async () => {
  const [conflicts, fences] = [heard("conflict"), heard("fence")];
  const store = await open<{ n: number }>("memory:");
  const thread = store.thread("t");
  await thread.put({ state: { n: 1 } });
  await expect(thread.put({ state: { n: 2 } }, { expect: null })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(conflicts).toMatchObject([{ thread: "t", error: { code: "CONFLICT" } }]);
  const lease = await thread.acquire({ ttl: 60_000 });
  await thread.breakLease({ by: "test", reason: "to lose it" });
  await expect(thread.put({ state: { n: 2 } }, { lease })).rejects.toMatchObject({ code: "FENCED" });
  expect(fences).toMatchObject([{ thread: "t", error: { code: "FENCED" } }]);
});

test("a store that another was faster than announces that it tries again", async () => {
  const [retries, commits] = [heard("retry"), heard("commit")];
  const place = sharedMemory();
  const [one, other] = [await open<{ n: number }>(place), await open<{ n: number }>(place)];
  await one.thread("t").put({ state: { n: 1 } });
  await other.thread("t").latest();
  await one.thread("t").put({ state: { n: 2 } });
  await other.thread("t").put({ state: { n: 3 } });
  expect(retries).toEqual([{ thread: "t", attempt: 2 }]);
  expect(commits.map(({ refused }) => refused)).toEqual([0, 0, 1, 0]);
});

test("a run and its tasks are announced at their start and their end, failures included", async () => {
  const [runs, tasks, starts] = [heard("run"), heard("task"), heard("task:start")];
  const flow = graph<{ n: number }>("counting")
    .node("one", ({ n }) => ({ n: n + 1 }))
    .node("two", ({ n }) => {
      if (n > 5) throw new Error("too many");
      return { n: n + 1 };
    })
    .edge(START, "one")
    .edge("one", "two")
    .edge("two", END)
    .compile({ store: await open("memory:") });
  await flow.run({ n: 1 }, { thread: "t", run: "first" });
  expect(runs).toMatchObject([{ graph: "counting", thread: "t", run: "first", resumed: false, status: "done" }]);
  expect(tasks.map(({ node, attempt }) => [node, attempt])).toEqual([
    ["one", 1],
    ["two", 1],
  ]);
  expect(starts).toEqual(tasks);
  await expect(flow.run({ n: 9 }, { thread: "u" })).rejects.toThrow("too many");
  expect(runs[1]?.error).toMatchObject({ code: "NODE_FAILED" });
  expect(tasks.at(-1)).toMatchObject({ node: "two", error: { message: "too many" } });
});
