import { afterEach, expect, it, vi } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { backendOf } from "../../support/backend-of.ts";
import { idsOf } from "../../support/collect.ts";
import { locations, type Place } from "../../support/places.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

afterEach(() => void vi.restoreAllMocks());

/** A view of a backend that refuses commits as if others had been first, as long as it is told to. It closes nothing. */
function refusing(inner: Backend, refuses: () => boolean): Backend {
  return sharedBackend(inner, {
    commit: async (batches) => (refuses() ? batches.map(() => false) : inner.commit(batches)),
  });
}

it("a put succeeds however often others were first, while there is time", async () => {
  let left = 0;
  const store = await open<{ n: number }>(refusing(memory(), () => left-- > 0));
  for (const refusals of [0, 300, 1, 0]) {
    left = refusals;
    await store.thread("t").put({ state: { n: refusals } });
  }
  expect(await store.thread("t").count()).toBe(4);
  await store.close();
});

it("a put that others overtake for half a minute is BUSY, and nothing of it is written", async () => {
  let refuses = false;
  const store = await open<{ n: number }>(refusing(memory(), () => refuses));
  await store.thread("t").put({ id: "kept", state: { n: 1 } });
  refuses = true;
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
  await expect(store.thread("t").put({ state: { n: 2 } })).rejects.toMatchObject({
    code: "BUSY",
    thread: "t",
    committed: false,
    message: expect.stringContaining("30 seconds"),
  });
  expect(now).toBeGreaterThan(30_000);
  refuses = false;
  expect(await idsOf(store.thread("t").history())).toEqual(["kept"]);
  await store.thread("t").put({ state: { n: 3 } });
  expect((await store.thread("t").latest())?.state).toEqual({ n: 3 });
  await store.close();
});

const WRITERS = 16;
const PUTS = 8;

/** Sixteen stores on one place: of their own where that can be, else on one backend, since a directory has one writer. */
async function openMany(place: Place, processes: boolean): Promise<Awaited<ReturnType<typeof open<{ n: number }>>>[]> {
  const shared = processes ? undefined : await backendOf(place);
  return Promise.all(
    Array.from({ length: WRITERS }, () =>
      shared ? open<{ n: number }>(refusing(shared, () => false)) : open<{ n: number }>(place.url, place.options),
    ),
  );
}

it.each(locations)(
  "all puts of sixteen stores on one thread succeed, on $name",
  async ({ make, capabilities }) => {
    const place = await make();
    const stores = await openMany(place, capabilities.processes);
    await Promise.all(
      stores.map(async (store, writer) => {
        const thread = store.thread("t");
        for (let n = 0; n < PUTS; n += 1)
          await thread.put({ id: `${writer}-${n}`, update: { set: { [`w${writer}`]: n } } });
      }),
    );
    const [store] = stores;
    const thread = store?.thread("t");
    expect(await thread?.count()).toBe(WRITERS * PUTS);
    const state = Object.fromEntries(stores.map((_, writer) => [`w${writer}`, PUTS - 1]));
    expect((await thread?.latest())?.state).toEqual(state);
    expect(await store?.verify()).toEqual({ ok: true, faults: [] });
    await Promise.all(stores.map((one) => one.close()));
    await place.cleanup();
  },
  120_000,
);
