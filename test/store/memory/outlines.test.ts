import { expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store, type Update } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";

interface Talk {
  messages: { text: string }[];
  notes: { [key: string]: string };
  draft: string;
  turn: number;
}

const threads = 20;
const longText = "a long text ".repeat(1_000);

const initial = (): Talk => ({ messages: [], notes: { first: "note" }, draft: longText, turn: 0 });

/** Makes the states of all other threads the last that were used. */
async function makeRoom(store: Store<Talk>): Promise<void> {
  for (let number = 1; number < threads; number += 1) await store.thread(`t${number}`).latest();
}

/** Twenty threads whose states of 12 KB each take more memory than there is: only those used last are whole. */
async function crowded(backend: Backend, cacheBytes = 100_000, packRows = 64): Promise<Store<Talk>> {
  const store = await open<Talk>(backend, { cacheBytes, packRows });
  for (let number = 0; number < threads; number += 1) {
    await store.thread(`t${number}`).put({ state: initial(), next: ["plan"] });
  }
  return store;
}

test("an update of a thread whose state is no longer in memory reads nothing, and reads back exact", async () => {
  const { backend, taken } = counted(memory());
  const store = await crowded(backend);
  taken();
  for (let turn = 1; turn <= 15; turn += 1) {
    for (let number = 0; number < threads; number += 1) {
      const update: Update<Talk> = { append: { messages: [{ text: `${turn}` }], draft: "." }, set: { turn } };
      await store.thread(`t${number}`).put({ update, node: "plan", next: turn % 2 === 0 ? ["plan"] : ["act"] });
    }
  }
  expect(taken().reads).toBe(0);
  for (let number = 0; number < threads; number += 1) {
    for await (const { state, step, next } of store.thread(`t${number}`).history({ states: true })) {
      expect(state).toEqual({
        messages: Array.from({ length: step }, (_, index) => ({ text: `${index + 1}` })),
        notes: { first: "note" },
        draft: longText + ".".repeat(step),
        turn: step,
      });
      expect(next).toEqual([{ node: step % 2 === 0 ? "plan" : "act" }]);
    }
  }
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
});

test.each<[string, Update<Talk>]>([
  ["an element for a text", { append: { draft: ["x"] as unknown as string } }],
  ["text for a list", { append: { messages: "x" as unknown as [] } }],
  ["something for a number", { append: { turn: "x" } as unknown as Update<Talk>["append"] & object }],
  ["something for an object", { append: { notes: "x" } as unknown as Update<Talk>["append"] & object }],
  ["something for a field that is not there", { append: { other: "x" } as unknown as Update<Talk>["append"] & object }],
])("appending %s is refused in the same words, whether the state is in memory or not", async (_, update) => {
  const refusal = async (store: Store<Talk>): Promise<unknown> =>
    store
      .thread("t0")
      .put({ update })
      .then(
        () => "taken",
        (error: Error) => error.message,
      );
  const roomy = await refusal(await crowded(memory(), 2 ** 26));
  expect(roomy).toMatch(/^update.append: /);
  expect(await refusal(await crowded(memory()))).toBe(roomy);
});

test("updates that need the state read it, also those that wait together with others that do not", async () => {
  const store = await crowded(memory());
  const thread = store.thread("t0");
  await Promise.all([
    thread.put({ update: { set: { turn: 1 } }, node: "plan" }),
    thread.put({ update: { append: { messages: [{ text: "1" }] } }, node: "act" }),
    thread.put({ update: { set: { notes: {} } } }),
    thread.put({ update: { set: { draft: "short" }, unset: ["turn"] } }),
  ]);
  const states: unknown[] = [];
  for await (const { state } of thread.history({ states: true })) states.unshift(state);
  const notes = { first: "note" };
  expect(states.slice(1)).toEqual([
    { messages: [], notes, draft: longText, turn: 1 },
    { messages: [{ text: "1" }], notes, draft: longText, turn: 1 },
    { messages: [{ text: "1" }], notes: {}, draft: longText, turn: 1 },
    { messages: [{ text: "1" }], notes: {}, draft: "short" },
  ]);
});

test.each<[string, (store: Store<Talk>, number: number) => Promise<unknown>]>([
  [
    "an empty object over another",
    (store, number) => store.thread(`t${number}`).put({ update: { set: { notes: {} } } }),
  ],
  [
    "a field whose name is a mark",
    (store, number) => store.thread(`t${number}`).put({ update: { set: { $: 1 } as Partial<Talk> } }),
  ],
  ["an empty path", (store, number) => store.thread(`t${number}`).put({ update: { set: { turn: 1 } }, path: [] })],
  [
    "what follows a checkpoint that was replaced",
    async (store, number) => {
      const { id } = await store.thread(`t${number}`).put({ state: initial(), id: `c${number}` });
      await store.thread(`t${number}`).put({ update: { set: { notes: {} } }, id });
      await makeRoom(store);
      await store.thread(`t${number}`).put({ update: { append: { draft: "!" } } });
    },
  ],
])("%s is as it would be with the state in memory", async (_, change) => {
  const shown: unknown[] = [];
  for (const cacheBytes of [100_000, 2 ** 26]) {
    const store = await crowded(memory(), cacheBytes);
    await store.thread("t0").put({ update: { set: { turn: 1 } }, node: "a" });
    await store.thread("t0").put({ update: { set: { turn: 2 } }, node: "b" });
    await makeRoom(store);
    await change(store, 0);
    const { state, path } = (await store.thread("t0").latest()) as { state: Talk; path: readonly string[] };
    shown.push({ state, path });
  }
  expect(shown[0]).toEqual(shown[1]);
});

test("a field that is overwritten again and again makes a thread no longer to read", async () => {
  const bytes: number[] = [];
  for (const cacheBytes of [100_000, 2 ** 26]) {
    const { backend, taken } = counted(memory());
    const store = await crowded(backend, cacheBytes, 4);
    for (let turn = 1; turn <= 150; turn += 1) {
      for (let number = 0; number < threads; number += 1) {
        await store.thread(`t${number}`).put({ update: { set: { draft: `${turn % 10}`.repeat(3_000) } } });
      }
    }
    const reader = await open<Talk>(backend);
    taken();
    expect((await reader.thread("t0").latest())?.state.draft).toBe("0".repeat(3_000));
    bytes.push(taken().bytes);
  }
  const [crowdedBytes, roomyBytes] = bytes as [number, number];
  expect(crowdedBytes).toBeLessThan(2 * roomyBytes + 10_000);
});
