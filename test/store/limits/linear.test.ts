import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type Store, type Thread } from "../../../src/index.ts";
import { counted, type Taken } from "../../support/counted.ts";
import { linesOf } from "../bundles/exported.ts";

type State = { log: number[]; n: number };

/** With packs of eight these are more packs than are remembered, so that more checkpoints make no other difference. */
const SMALL = 1_000;

/** Ways to make a history of some checkpoints, and whether its threads are counted by what they show. */
const histories: { readonly [name: string]: (store: Store<State>, count: number) => Promise<void> } = {
  "a long thread that appends": async (store, count) => {
    const thread = store.thread("t");
    await thread.put({ state: { log: [], n: 0 } });
    for (let n = 1; n < count; n += 1)
      await thread.put({ update: { append: { log: [n] }, set: { n } }, node: "n", next: ["n"] });
  },
  "a long thread with ids of its own and writes": async (store, count) => {
    const thread = store.thread("t");
    for (let n = 0; n < count; n += 1) {
      const { id } = await thread.put({ id: `c${n}`, state: { log: [], n } });
      await thread.putWrites(id, { task: "t", writes: [{ channel: "c", value: n }] });
    }
  },
  "a thread with a branch from every checkpoint": async (store, count) => {
    const thread = store.thread("t");
    const ids: string[] = [];
    for (let n = 0; n < count / 2; n += 1) {
      const change = n === 0 ? { state: { log: [], n } } : { update: { append: { log: [n] } } };
      ids.push((await thread.put(change)).id);
    }
    for (const parent of ids) await thread.put({ update: { set: { n: -1 } } }, { parent });
  },
  "a thread with nested namespaces": async (store, count) => {
    for (let n = 0; n < count; n += 1) {
      const namespace = n % 10 === 0 ? [] : ["nested", String(n % 3)];
      await store.thread("t", { namespace }).put({ state: { log: [], n } });
    }
  },
};

async function taken(
  make: (store: Store<State>, count: number) => Promise<void>,
  count: number,
  work: (store: Store<State>) => Promise<unknown>,
): Promise<Taken & { readonly stored: number }> {
  const { backend, taken } = counted(memory());
  const writer = await open<State>(backend, { packRows: 8 });
  await make(writer, count);
  await writer.close();
  const store = await open<State>(backend, { cacheBytes: 0, packRows: 8 });
  taken();
  await work(store);
  const { tables } = await backend.size();
  return { ...taken(), stored: Object.values(tables).reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * Expects that a history `times` as long takes at most `times` the reads and records, and that the bytes read grow at most as the
 * stored bytes do. A tenth more is allowed.
 */
async function expectLinear(
  make: (store: Store<State>, count: number) => Promise<void>,
  small: number,
  work: (store: Store<State>) => Promise<unknown>,
  times = 4,
): Promise<void> {
  const few = await taken(make, small, work);
  const many = await taken(make, small * times, work);
  for (const kind of ["reads", "records"] as const)
    expect(many[kind] / few[kind], `${kind}: ${few[kind]}, then ${many[kind]}`).toBeLessThan(times * 1.1);
  const grown = many.stored / few.stored;
  expect(many.bytes / few.bytes, `bytes: ${few.bytes}, then ${many.bytes}`).toBeLessThan(grown * 1.1);
}

const sound = async (store: Store<State>): Promise<void> =>
  expect(await store.verify()).toEqual({ ok: true, faults: [] });

for (const [name, make] of Object.entries(histories)) {
  test(`what verify reads of ${name} grows as the thread does`, () => expectLinear(make, SMALL, sound));

  test(`what export reads of ${name} grows as the thread does`, () =>
    expectLinear(make, SMALL, async (store) => expect(await linesOf(store)).not.toEqual([])));

  test(`what a second import of ${name} reads grows as the thread does`, () =>
    expectLinear(make, SMALL, async (store) =>
      expect(await store.import(store.export())).toMatchObject({ imported: 0, unchanged: 1 }),
    ));
}

/** Each thread is a fork of the one before it, and goes on by a step. */
const nestedForks =
  (name: (depth: number, count: number) => string) =>
  async (store: Store<State>, count: number): Promise<void> => {
    let thread: Thread<State> = store.thread(name(0, count));
    await thread.put({ state: { log: [], n: 0 } });
    for (let depth = 1; depth < count; depth += 1) {
      thread = await thread.fork({ into: name(depth, count) });
      await thread.put({ update: { append: { log: [depth] } } });
    }
  };

const outwards = nestedForks((depth) => `t${String(depth).padStart(5, "0")}`);
const inwards = nestedForks((depth, count) => `t${String(count - depth).padStart(5, "0")}`);

for (const [name, make] of [
  ["after their sources", outwards],
  ["before their sources", inwards],
] as const) {
  test(`what verify reads of nested forks that are listed ${name} grows as their number does`, () =>
    expectLinear(make, 100, sound));

  // Of either number, no more than some are remembered at a time.
  test(`what a list of nested forks that are listed ${name} reads grows as their number does, with little memory`, () =>
    expectLinear(
      make,
      600,
      async (store) => {
        let depth = 0;
        for await (const { checkpoints } of store.threads()) depth = Math.max(depth, checkpoints);
        expect(depth).toBeGreaterThanOrEqual(600);
      },
      2,
    ));
}
