import { afterEach, expect, it, vi } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";

type State = { n: number };

async function counting(): Promise<{ readonly store: Store<State>; commits(): number }> {
  const { backend, taken } = counted(memory());
  return { store: await open<State>(backend), commits: () => taken().commits };
}

/** Waits for more turns of promises than a graph takes between the end of a task and the checkpoint of its step. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await undefined;
}

const written = { task: "t", writes: [{ channel: "n", value: 2 }] };

afterEach(() => vi.useRealTimers());

it("a task's writes share the commit of the checkpoint that follows in the same turn", async () => {
  const { store, commits } = await counting();
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 1 } });
  commits();
  const writes = thread.putWrites(id, written);
  await someTurns();
  expect(commits()).toBe(0);
  const put = thread.put({ update: { set: { n: 2 } } });
  const [info] = await Promise.all([put, writes]);
  expect(commits()).toBe(1);
  expect(info.parent).toBe(id);
  expect((await thread.writes(id)).map(({ value }) => value)).toEqual([2]);
});

it("a task's writes without a checkpoint are committed at the end of the turn, together with those of other threads", async () => {
  const { store, commits } = await counting();
  const threads = Array.from({ length: 10 }, (_, index) => store.thread(`t${index}`));
  const heads = await Promise.all(threads.map((thread) => thread.put({ state: { n: 1 } })));
  commits();
  await Promise.all(threads.map((thread, index) => thread.putWrites(heads[index]?.id as string, written)));
  expect(commits()).toBe(1);
  for (const [index, thread] of threads.entries()) {
    expect(await thread.writes(heads[index]?.id as string)).toHaveLength(1);
  }
});

it("a task's writes are committed although the checkpoint that shares their commit is refused", async () => {
  const { store } = await counting();
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 1 } });
  const writes = thread.putWrites(id, written);
  await expect(thread.put({ state: { n: 2 } }, { expect: "another" })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await writes).toMatchObject({ stored: 1 });
  expect(await thread.writes(id)).toHaveLength(1);
  expect(await thread.count()).toBe(1);
});

it("a store that is closed in the same turn has a task's writes", async () => {
  const { store } = await counting();
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 1 } });
  const writes = thread.putWrites(id, written);
  await store.close();
  expect(await writes).toMatchObject({ stored: 1 });
});

it("a test's own clock does not hold up a task's writes", async () => {
  const { store } = await counting();
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { n: 1 } });
  vi.useFakeTimers();
  expect(await thread.putWrites(id, written)).toMatchObject({ stored: 1 });
});

it("a backend that throws where it should reject fails what was asked of it, and nothing else", async () => {
  const { backend } = counted(memory());
  let broken = false;
  const store = await open<State>({
    ...backend,
    commit(batches) {
      if (broken) throw new Error("out of order");
      return backend.commit(batches);
    },
  });
  const threads = ["a", "b"].map((id) => store.thread(id));
  const [first, second] = await Promise.all(threads.map((thread) => thread.put({ state: { n: 1 } })));
  broken = true;
  const asked = [threads[0]?.putWrites(first?.id as string, written), threads[1]?.put({ state: { n: 2 } })];
  const reason = expect.objectContaining({ message: "out of order" });
  const refused = { status: "rejected", reason };
  expect(await Promise.allSettled(asked)).toEqual([refused, refused]);
  broken = false;
  expect(await threads[0]?.putWrites(first?.id as string, written)).toMatchObject({ stored: 1 });
  expect(await threads[1]?.putWrites(second?.id as string, written)).toMatchObject({ stored: 1 });
  await store.close();
});
