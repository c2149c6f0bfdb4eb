import { expect, test } from "vitest";
import type { Backend, Found, Value } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { unwrapJson, wrapJson } from "../../../src/codec/envelope.ts";
import { open, type Store } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";
import { seals } from "../../support/seals.ts";

/** A thread in which every step of the root has a nested graph of its own, as LangGraph's subgraphs have. */
async function filled(store: Store<{ n: number }>, namespaces: number): Promise<void> {
  const thread = store.thread("t");
  await thread.put({ state: { n: 0 } });
  for (let number = 1; number <= namespaces; number += 1) {
    await store.thread("t", { namespace: [`sub:${number}`] }).put({ state: { n: number } });
    await thread.put({ update: { set: { n: number } } });
  }
}

test("the first checkpoint of a namespace costs the same however many there are", async () => {
  const costs: unknown[] = [];
  for (const namespaces of [96, 960]) {
    const { backend, taken } = counted(memory());
    const store = await open<{ n: number }>(backend);
    await filled(store, namespaces);
    await seals();
    await store.close();
    const other = await open<{ n: number }>(backend);
    await other.thread("t").latest();
    taken();
    await other.thread("t", { namespace: ["new"] }).put({ state: { n: -1 } });
    const { reads, records } = taken();
    costs.push({ reads, records });
    await other.close();
  }
  expect(costs[1]).toEqual(costs[0]);
});

test("a fork finds where it begins in every namespace in one walk", async () => {
  const found: number[] = [];
  const reads: number[] = [];
  for (const namespaces of [20, 200]) {
    const { backend, taken } = counted(memory());
    const store = await open<{ n: number }>(backend);
    await filled(store, namespaces);
    await store.thread("t").fork({ into: "f" });
    await store.close();
    const other = await open<{ n: number }>(backend);
    await other.thread("f").latest();
    taken();
    found.push((await other.thread("f").namespaces()).length);
    reads.push(taken().reads);
    await other.close();
  }
  expect(found).toEqual([21, 201]);
  expect(reads[1]).toBeLessThan((reads[0] as number) + 8);
});

test("the greatest id of a nested namespace is found in the index, whichever was committed last", async () => {
  const costs: unknown[] = [];
  for (const steps of [100, 1_000]) {
    const { backend, taken } = counted(memory());
    const store = await open<{ n: number }>(backend);
    const nested = store.thread("t", { namespace: ["memory"] });
    let made = 0;
    const id = (): string => String(++made).padStart(6, "0");
    await nested.put({ id: id(), state: { n: 0 } });
    await nested.put({ id: id(), update: { set: { n: 1 } } });
    for (let step = 0; step < steps; step += 1) await store.thread("t").put({ id: id(), state: { n: step } });
    await store.close();
    const other = await open<{ n: number }>(backend);
    await other.thread("t").latest();
    taken();
    const tuple = await other.thread("t", { namespace: ["memory"] }).tuple({ by: "id" });
    expect(tuple?.checkpoint.id).toBe("000002");
    const { reads, records } = taken();
    costs.push({ reads, records });
    await other.close();
  }
  expect(costs[1]).toEqual(costs[0]);
});

test("what a nested namespace has sealed is looked up once, and again when that has changed", async () => {
  const { backend, taken } = counted(memory());
  const store = await open<{ n: number }>(backend);
  await filled(store, 200);
  const nested = { namespace: ["sub:7"] };
  const reader = await open<{ n: number }>(backend);
  const cost = async (n: number): Promise<number> => {
    taken();
    expect((await reader.thread("t", nested).tuple({ by: "id" }))?.checkpoint.state.n).toBe(n);
    return taken().reads;
  };
  // Tapes that were read twice are remembered; then one read confirms that nothing has changed.
  for (let time = 0; time < 3; time += 1) await cost(7);
  expect(await cost(7)).toBe(1);
  await store.thread("t", nested).put({ state: { n: -7 } });
  for (let n = 0; n < 70; n += 1) await store.thread("t").put({ update: { set: { n } } });
  for (let time = 0; time < 3; time += 1) await cost(-7);
  expect(await cost(-7)).toBe(1);
});

test("what is sealed while the index is being read is not forgotten over the answer", async () => {
  const inner = memory();
  let hold = false;
  let release = (): void => {};
  const store = await open<{ n: number }>(
    {
      ...counted(inner).backend,
      async read(list) {
        const answers = await inner.read(list);
        if (hold && list.some((read) => "get" in read && read.get.table === "head")) {
          hold = false;
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        }
        return answers;
      },
    },
    { packRows: 4 },
  );
  const nested = store.thread("t", { namespace: ["memory"] });
  const seal = async (): Promise<void> => {
    for (let n = 0; n < 8; n += 1) await store.thread("t").put({ state: { n } });
    await seals();
  };
  await nested.put({ state: { n: 1 } });
  await seal();
  hold = true;
  const first = nested.latest();
  while (hold) await new Promise((resolve) => setImmediate(resolve));
  await nested.put({ state: { n: 2 } });
  await seal();
  release();
  await first;
  expect((await nested.latest())?.state).toEqual({ n: 2 });
});

test("the greatest id of a nested namespace is not always that of its last checkpoint", async () => {
  const store = await open<{ n: number }>("memory:");
  const nested = store.thread("t", { namespace: ["memory"] });
  for (const id of ["b", "d", "a", "c"]) await nested.put({ id, state: { n: 0 } });
  for (let step = 0; step < 200; step += 1) await store.thread("t").put({ id: `z${1_000 + step}`, state: { n: step } });
  expect((await nested.latest())?.id).toBe("c");
  expect((await nested.tuple({ by: "id" }))?.checkpoint.id).toBe("d");
  await nested.put({ id: "bb", state: { n: 1 } });
  for (let step = 0; step < 200; step += 1) await store.thread("t").put({ id: `z${2_000 + step}`, state: { n: step } });
  expect((await nested.tuple({ by: "id" }))?.checkpoint.id).toBe("d");
  await nested.deleteCheckpoints(["d"]);
  expect((await nested.tuple({ by: "id" }))?.checkpoint.id).toBe("c");
  await store.close();
});

test("an index without greatest ids is read, and gone on with", async () => {
  const { backend } = counted(memory());
  const begin = await open<{ n: number }>(backend);
  for (const id of ["b", "d", "a", "c"]) {
    await begin.thread("t", { namespace: ["memory"] }).put({ id, state: { n: 0 } });
  }
  const fill = async (store: Store<{ n: number }>, from: number): Promise<void> => {
    for (let step = 0; step < 200; step += 1) {
      await store.thread("t").put({ id: `z${from + step}`, state: { n: step } });
    }
  };
  await fill(begin, 1_000);
  await begin.close();
  await withoutGreatestIds(backend);
  const store = await open<{ n: number }>(backend);
  const nested = store.thread("t", { namespace: ["memory"] });
  expect((await nested.latest())?.id).toBe("c");
  expect((await nested.tuple({ by: "id" }))?.checkpoint.id).toBe("d");
  const { parent } = await nested.put({ id: "bb", update: { set: { n: 1 } } });
  expect(parent).toBe("c");
  await fill(store, 2_000);
  expect((await nested.tuple({ by: "id" }))?.checkpoint.id).toBe("d");
  expect((await nested.latest())?.id).toBe("bb");
  await store.close();
});

/** Writes the records of the index as they were before they held ids. */
async function withoutGreatestIds(backend: Backend): Promise<void> {
  const [directory] = await backend.read([{ get: { table: "directory", id: "t" } }]);
  const { tape, lineage } = unwrapJson(directory as Value) as { tape: number; lineage: number };
  const [found] = (await backend.read([{ scan: { table: "head", lineage, group: tape } }])) as [readonly Found[]];
  expect(found).toHaveLength(1);
  for (const { item, part, value } of found) {
    const heads = Object.entries(unwrapJson(value) as Record<string, [number, string]>);
    const seqs = Object.fromEntries(heads.map(([namespace, [seq]]) => [namespace, seq]));
    const key = { table: "head" as const, lineage, group: tape, item, part };
    expect(await backend.commit([{ puts: [{ key, value: wrapJson(seqs) }] }])).toEqual([true]);
  }
}
