import { expect, test } from "vitest";
import type { Answer, Backend } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { open, type Store } from "../../src/index.ts";

interface Counted {
  readonly backend: Backend;
  /** Reads, and records that they were answered with, since this was last asked. */
  taken(): { readonly reads: number; readonly records: number };
}

function counted(inner: Backend): Counted {
  let reads = 0;
  let records = 0;
  const size = (answer: Answer): number => (Array.isArray(answer) ? answer.length : answer === undefined ? 0 : 1);
  return {
    backend: {
      name: inner.name,
      capabilities: inner.capabilities,
      async read(list) {
        const answers = await inner.read(list);
        reads += 1;
        for (const answer of answers) records += size(answer);
        return answers;
      },
      commit: (batches) => inner.commit(batches),
      size: () => inner.size(),
      compact: () => inner.compact(),
      verify: () => inner.verify(),
      close: async () => undefined,
    },
    taken() {
      const since = { reads, records };
      reads = 0;
      records = 0;
      return since;
    },
  };
}

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
    await store.close();
    const other = await open<{ n: number }>(backend);
    await other.thread("t").latest();
    taken();
    await other.thread("t", { namespace: ["new"] }).put({ state: { n: -1 } });
    costs.push(taken());
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
