import { expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store, type ThreadInfo } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { counted } from "../../support/counted.ts";

interface State {
  list: string[];
}

const put = async (store: Store<State>, id: string, count: number, namespace: string[] = []): Promise<string[]> => {
  const thread = store.thread(id, { namespace });
  const ids = [(await thread.put({ state: { list: [] }, workflow: "w" })).id];
  while (ids.length < count) {
    ids.push((await thread.put({ update: { append: { list: [`${"long ".repeat(100)}${ids.length}`] } } })).id);
  }
  return ids;
};

async function listed(store: Store<State>): Promise<readonly ThreadInfo[]> {
  return collect(store.threads());
}

async function lengthOf(thread: ReturnType<Store<State>["thread"]>): Promise<number> {
  let length = 0;
  for await (const _ of thread.history()) length += 1;
  return length;
}

/** Threads of every kind: what a list says of them is found in different ways. */
async function fill(store: Store<State>): Promise<void> {
  await put(store, "one", 1);
  for (const count of [2, 3, 4, 5, 6, 9]) await put(store, `of ${count}`, count);
  const deleted = await put(store, "deleted head", 7);
  await store.thread("deleted head").deleteCheckpoints(deleted.slice(-1));
  const middle = await put(store, "deleted middle", 7);
  await store.thread("deleted middle").deleteCheckpoints(middle.slice(2, 4));
  const pruned = await put(store, "pruned", 9);
  await store.thread("pruned").prune({ keepLast: 2 });
  await store.thread("pruned").label(pruned.at(-1) as string, "labelled");
  const replaced = await put(store, "replaced", 3);
  await store.thread("replaced").put({ id: replaced[2] as string, state: { list: ["new"] }, workflow: "another" });
  const branched = await put(store, "branched", 3);
  await store.thread("branched").put({ state: { list: ["branch"] } }, { parent: branched[0] as string });
  await store.thread("branched").fork({ into: "forked" });
  await store.thread("branched").copy("copied");
  for (const id of ["forked on", "copied on"]) {
    await (id === "forked on" ? store.thread("branched").fork({ into: id }) : store.thread("branched").copy(id));
    for (const word of ["a", "b"]) await store.thread(id).put({ update: { append: { list: [word] } } });
  }
  const shared = await put(store, "shared", 4);
  await store.thread("shared").fork({ into: "sharing" });
  await store.thread("shared").deleteCheckpoints(shared.slice(-1));
  await put(store, "gone", 3);
  await store.thread("gone").delete();
  await put(store, "nested last", 2);
  await put(store, "nested last", 2, ["inner"]);
  await put(store, "nested only", 2, ["inner"]);
  const failed = await put(store, "failed", 2);
  const error = { task: "t", writes: [{ channel: "error", value: "no", index: -1 }] };
  await store.thread("failed").putWrites(failed[1] as string, error);
  await store.thread("waiting").put({ state: { list: [] }, interrupts: [{ id: "i", node: "n", value: 1 }] });
  await store.thread("paused").put({ state: { list: [] }, next: ["n"] });
  await put(store, "running", 2);
  await store.thread("running").acquire({ holder: "h", ttl: 60_000 });
  await put(store, "metadata", 2);
  await store.thread("metadata").put({ state: { list: [] }, metadata: { at: new Date(5) } });
}

it("a list tells of every kind of thread what the thread itself tells", async () => {
  const { backend } = counted(memory());
  const store = await open<State>(backend, { packRows: 4 });
  await fill(store);
  for (const reader of [store, await open<State>(backend, { packRows: 4 })]) {
    const threads = await listed(reader);
    expect(threads.map(({ id }) => id)).toEqual(threads.map(({ id }) => id).toSorted());
    expect(threads).toHaveLength(25);
    for (const { id, head, checkpoints, updatedAt, workflow } of threads) {
      const namespace = id === "nested only" ? ["inner"] : [];
      const thread = reader.thread(id, { namespace });
      const { state: _, path, next, completed, interrupts, barriers, ...latest } = (await thread.latest()) ?? {};
      expect(head, id).toEqual(latest);
      const walked = await lengthOf(thread);
      expect(await thread.count(), id).toBe(walked);
      const inner = id === "nested last" ? await lengthOf(reader.thread(id, { namespace: ["inner"] })) : 0;
      expect(checkpoints, id).toBe(walked + inner);
      expect(updatedAt, id).toBeGreaterThanOrEqual(head.createdAt);
      expect(workflow, id).toBe(head.workflow);
    }
    const statuses = Object.fromEntries(threads.map(({ id, status }) => [id, status]));
    expect(statuses).toMatchObject({ failed: "failed", waiting: "waiting", paused: "paused", running: "running" });
    expect(Object.values(statuses).filter((status) => status === "done")).toHaveLength(21);
  }
});

it("a list takes as many records however many of a thread are unsealed, and keeps none of them in memory", async () => {
  const { backend, taken } = counted(memory());
  const store = await open<State>(backend);
  for (let thread = 0; thread < 20; thread += 1) await put(store, `t${thread}`, 60);
  const fresh = await open<State>(backend);
  for (let round = 0; round < 2; round += 1) {
    taken();
    expect(await listed(fresh)).toHaveLength(20);
    const { reads, records } = taken();
    expect(records).toBe(20 + 20 * 3);
    // The directory, then a few threads, then the others.
    expect(reads).toBe(3);
  }
});

it("a list counts what forks inherit of one thread without walking its history for each", async () => {
  const { backend, taken } = counted(memory());
  const store = await open<State>(backend, { packRows: 4 });
  const ids = await put(store, "long", 100);
  const forks = [0, 1, 50, 98, 99].map((at) => ({ at, id: `fork at ${at}` }));
  for (const { at, id } of forks) await store.thread("long").fork({ at: ids[at] as string, into: id });
  await store.thread("fork at 50").put({ update: { append: { list: ["own"] } } });
  await store.thread("fork at 50").fork({ into: "fork of a fork" });
  await store.thread("fork of a fork").put({ update: { append: { list: ["own"] } } });
  const fresh = await open<State>(backend, { packRows: 4 });
  const counts = async (): Promise<Record<string, number>> =>
    Object.fromEntries((await listed(fresh)).map(({ id, checkpoints }) => [id, checkpoints]));
  const expected = {
    ...Object.fromEntries(forks.map(({ at, id }) => [id, at + 1])),
    long: 100,
    "fork at 50": 52,
    "fork of a fork": 53,
  };
  expect(await counts()).toEqual(expected);
  taken();
  expect(await counts()).toEqual(expected);
  expect(taken().records).toBeLessThan(60);
  // A deletion or replacement between two counts shows in the second.
  await store.thread("long").deleteCheckpoints([ids[30] as string]);
  await fresh.thread("fork at 99").deleteCheckpoints([ids[20] as string, ids[21] as string]);
  await store.compact();
  expect(await counts()).toEqual({ ...expected, long: 99, "fork at 99": 98 });
});

it("a list counts a fork anew where another store has deleted from its line since", async () => {
  const { backend } = counted(memory());
  const [store, reader] = [await open<State>(backend, { packRows: 4 }), await open<State>(backend, { packRows: 4 })];
  const ids = await put(store, "t", 12);
  const thread = store.thread("t");
  await thread.fork({ at: ids[9] as string, into: "first" });
  expect(await reader.thread("first").count()).toBe(10);
  await store.thread("first").delete();
  await thread.deleteCheckpoints([ids[7] as string]);
  await thread.fork({ at: ids[9] as string, into: "second" });
  expect(await reader.thread("second").count()).toBe(9);
  expect(await lengthOf(reader.thread("second"))).toBe(9);
});
