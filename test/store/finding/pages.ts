import type { Backend } from "../../../src/backend.ts";
import { open, type Store } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { counted, type Taken } from "../../support/counted.ts";

const together = 1_000;

/** More than a page of 10 threads reads, whatever the number of threads. */
export const MOST_READ = { records: 120, reads: 5 } as const;

/** Fills a store with threads: one of a hundred waits, and belongs to each of a hundred tenants. */
async function fill(backend: Backend, count: number): Promise<void> {
  let now = 1_750_000_000_000;
  const store = await open(backend, { clock: () => now });
  for (let start = 0; start < count; start += together) {
    const numbers = Array.from({ length: Math.min(together, count - start) }, (_, index) => start + index);
    const puts = numbers.map((number) => {
      now += 300;
      const interrupts = [{ id: `q${number}`, node: "ask", value: "Sure?" }];
      const attributes = { tenant: `tenant-${number % 100}` };
      const asked = number % 100 === 7 && { next: ["ask"], interrupts };
      return store
        .thread(`t${number}`)
        .put({ state: { number }, createdAt: now, workflow: "w", run: `r${number}`, attributes, ...asked });
    });
    await Promise.all(puts);
  }
}

/** The questions of a first page, and the numbers of the threads that it must show, newest first. */
const asked: readonly (readonly [options: object, from: number, stride: number])[] = [
  [{}, 0, 1],
  [{ status: "waiting" }, 7, 100],
  [{ where: { tenant: "tenant-5" } }, 5, 100],
  [{ workflow: "w", status: ["waiting", "failed"] }, 7, 100],
  [{ run: "r17" }, 17, Number.POSITIVE_INFINITY],
];

/**
 * Fills a backend and returns what the first pages of 10 threads read of it. Throws if a page shows other threads than it
 * should. `backend` stays open.
 */
export async function pagesOf(backend: Backend, count: number): Promise<readonly Taken[]> {
  await fill(backend, count);
  const { backend: watched, taken } = counted(backend);
  const store: Store = await open(watched, { clock: () => 1_760_000_000_000 });
  await store.counts();
  const all: Taken[] = [];
  for (const [options, from, stride] of asked) {
    taken();
    const found = await collect(store.threads({ order: "updated", limit: 10, ...options }));
    const last = Number.isFinite(stride) ? from + stride * Math.floor((count - 1 - from) / stride) : from;
    const expected = Array.from(
      { length: Number.isFinite(stride) ? 10 : 1 },
      (_, n) => `t${last - (n > 0 ? n * stride : 0)}`,
    );
    const ids = found.map(({ id }) => id);
    if (ids.join() !== expected.join()) throw new Error(`${JSON.stringify(options)} shows ${ids.join()}`);
    all.push(taken());
  }
  return all;
}
