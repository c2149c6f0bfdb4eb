import { expect, test } from "vitest";
import type { Answer } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

type State = Record<string, unknown>;

/** Returns the number of records in an answer. */
function recordsIn(answer: Answer): number {
  if (answer === undefined || typeof answer === "number") return 0;
  return Array.isArray(answer) ? answer.length : 1;
}

async function filled(
  threads: number,
): Promise<{ readonly store: Store<State>; most(): number; readonly commits: () => number }> {
  const backend = memory();
  let most = 0;
  let commits = 0;
  const watched = forwarding(backend, {
    read: async (reads) => {
      const answers = await backend.read(reads);
      most = Math.max(
        most,
        answers.reduce((sum: number, answer) => sum + recordsIn(answer), 0),
      );
      return answers;
    },
    commit: (batches) => {
      commits += 1;
      return backend.commit(batches);
    },
  });
  const store = await open<State>(watched, { retention: { checkpoints: { keepLast: 1 } } });
  for (let n = 0; n < threads; n += 1) {
    const thread = store.thread(`t${String(n).padStart(4, "0")}`);
    await thread.put({ state: { n } });
    await thread.put({ update: { set: { more: n } } });
    if (n % 10 === 0) await thread.fork({ into: `f${String(n).padStart(4, "0")}` });
  }
  most = 0;
  return { store, most: () => most, commits: () => commits };
}

const work: readonly (readonly [string, (store: Store<State>) => Promise<unknown>])[] = [
  ["compact", (store) => store.compact()],
  ["verify", (store) => store.verify()],
  ["stats", (store) => store.stats()],
  ["measure", (store) => store.measure()],
  ["sweep", (store) => store.sweep()],
  [
    "export",
    async (store) => {
      for await (const _ of store.export());
    },
  ],
];

test.each(work)("%s reads no more records at a time in a store of 1,100 threads than in one of 600", async (_, run) => {
  const [few, many] = [await filled(600), await filled(1100)];
  await run(few.store);
  await run(many.store);
  expect(many.most()).toBeLessThanOrEqual(few.most());
  expect(few.most()).toBeGreaterThan(0);
});

test("a compaction, a verification and an export that were stopped go on behind the last thread that was told", async () => {
  const { store } = await filled(30);
  for (const call of ["compact", "verify"] as const) {
    const told: string[] = [];
    const stop = new AbortController();
    const progress = (threads: number, last?: string): void => {
      told.push(last as string);
      if (threads === 12) stop.abort(new Error("enough"));
    };
    await expect(store[call]({ progress, signal: stop.signal })).rejects.toThrow("enough");
    expect(told.length).toBe(12);
    await store[call]({ after: told.at(-1) as string, progress: (_, last) => void told.push(last as string) });
    expect(told.length).toBe(33);
    expect(told).toEqual([...new Set(told)].sort());
  }
  const ids: string[] = [];
  for await (const { id } of store.threads()) ids.push(id);
  const copy = await open<State>("memory:");
  let first = "";
  for await (const line of store.export({ threads: ids.slice(0, 20) })) first += line;
  await copy.import([first]);
  await copy.import(store.export({ after: ids[19] as string }));
  const copied: string[] = [];
  for await (const { id } of copy.threads()) copied.push(id);
  expect(copied).toEqual(ids);
  expect(() => store.export({ after: "" })).toThrow(TypeError);
  expect(() => store.export({ after: "a", threads: ["b"] })).toThrow(TypeError);
});

test("a count that was stopped goes on behind the last thread that was told", async () => {
  const { store } = await filled(30);
  const told: string[] = [];
  const stop = new AbortController();
  const progress = (threads: number, last?: string): void => {
    told.push(last as string);
    if (threads === 12) stop.abort(new Error("enough"));
  };
  await expect(store.measure({ progress, signal: stop.signal })).rejects.toThrow("enough");
  const rest = await store.measure({ after: told.at(-1) as string });
  const whole = await store.measure();
  expect(rest.threads).toBe(whole.threads - 12);
  expect(whole.checkpoints - rest.checkpoints).toBe(24);
  expect(rest.bytes).toEqual(whole.bytes);
  await expect(store.measure({ after: "" })).rejects.toThrow(TypeError);
});

test("every lineage is compacted once, whichever of its threads were deleted", async () => {
  const { store, commits } = await filled(30);
  await store.thread("t0000").delete();
  await store.thread("f0010").delete();
  for (let n = 0; n < 30; n += 1) await store.thread(`t${String(n).padStart(4, "0")}`).prune({ keepLast: 1 });
  await store.compact();
  const before = commits();
  await store.compact();
  expect(commits()).toBe(before);
  expect((await store.verify()).faults).toEqual([]);
});
