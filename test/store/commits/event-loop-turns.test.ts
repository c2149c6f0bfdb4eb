import { afterEach, describe, expect, it } from "vitest";
import { open, type Store } from "../../../src/index.ts";

const THREADS = 420;
const CHECKPOINTS = 300;

/** How often others could do something while a work went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, over] = [0, false];
  const tick = (): void => {
    turns += 1;
    if (!over) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  over = true;
  return turns;
}

async function all(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** Both answer at once, without a turn of the event loop. */
describe.each(["memory:", "sqlite::memory:"])("work that goes through a whole store, on %s", (url) => {
  async function filled(fill: (store: Store) => Promise<unknown>[]): Promise<Store> {
    const store = await open(url);
    opened.push(store);
    await Promise.all(fill(store));
    // Modules loaded on first use take turns of their own.
    await store.measure();
    await store.verify();
    await store.compact();
    await all(store.export());
    return store;
  }

  it("work on many threads lets others have their turns", async () => {
    const store = await filled((store) =>
      Array.from({ length: THREADS }, (_, index) => store.thread(`t${index}`).put({ state: { index } })),
    );
    const pages = Math.floor(THREADS / 100);
    expect(await turnsDuring(() => all(store.threads()))).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => all(store.threads({ order: "updated" })))).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => store.measure())).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => store.verify())).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => store.compact())).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => all(store.export()))).toBeGreaterThanOrEqual(pages);
  });

  it("work on one long thread lets others have their turns", async () => {
    const store = await filled((store) =>
      Array.from({ length: CHECKPOINTS }, (_, index) => store.thread("t").put({ state: { index } })),
    );
    const pages = Math.floor(CHECKPOINTS / 64);
    expect(await turnsDuring(() => store.verify())).toBeGreaterThanOrEqual(pages);
    expect(await turnsDuring(() => all(store.export()))).toBeGreaterThanOrEqual(pages);
    const thread = store.thread("t");
    // The first pages are small: who wants no more should have them at once.
    expect(await turnsDuring(() => all(thread.history()))).toBeGreaterThanOrEqual(pages - 1);
    expect(await turnsDuring(() => all(thread.history({ states: true })))).toBeGreaterThanOrEqual(pages - 1);
  });
});
