import crypto from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import type { Value } from "../../../src/backend.ts";
import { decodeDirectory } from "../../../src/engine/records/store-wide/directory.ts";
import { backendOf } from "../../support/backend-of.ts";
import { campaignLocations, type Place } from "../../support/places.ts";

type Open = typeof import("../../../src/api/open.ts").open;

afterEach(() => void vi.restoreAllMocks());

/** A process of its own whose generator of tape numbers draws these first: the modules are loaded anew. */
async function processThatDraws(...numbers: number[]): Promise<Open> {
  vi.restoreAllMocks();
  const draw = crypto.randomInt as (least: number, beyond: number) => number;
  vi.spyOn(crypto, "randomInt").mockImplementation(
    ((least: number, beyond: number) => numbers.shift() ?? draw(least, beyond)) as typeof crypto.randomInt,
  );
  vi.resetModules();
  return (await import("../../../src/api/open.ts")).open;
}

async function inProcess(
  place: Place,
  numbers: readonly number[],
  act: (store: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const store = await open(await processThatDraws(...numbers), place);
  await act(store);
  await store.close();
}

function open(opener: Open, place: Place): ReturnType<typeof opener<{ of: string; n: number }>> {
  return opener<{ of: string; n: number }>(place.url, place.options);
}

const ways = [
  {
    way: "a fork draws the number of another thread",
    make: async (place: Place): Promise<void> => {
      await inProcess(place, [1000], async (store) => void (await store.thread("c").put({ state: { of: "c", n: 0 } })));
      await inProcess(place, [2000], async (store) => void (await store.thread("a").put({ state: { of: "a", n: 0 } })));
      await inProcess(place, [1000], async (store) => void (await store.thread("a").fork({ into: "b" })));
    },
  },
  {
    way: "a copy draws the number of another thread",
    make: async (place: Place): Promise<void> => {
      await inProcess(place, [1000], async (store) => void (await store.thread("c").put({ state: { of: "c", n: 0 } })));
      await inProcess(place, [2000], async (store) => void (await store.thread("a").put({ state: { of: "a", n: 0 } })));
      await inProcess(place, [1000], async (store) => void (await store.thread("a").copy("b")));
    },
  },
  {
    way: "a new thread draws the number of another's fork",
    make: async (place: Place): Promise<void> => {
      await inProcess(place, [2000], async (store) => void (await store.thread("a").put({ state: { of: "a", n: 0 } })));
      await inProcess(place, [1000], async (store) => void (await store.thread("a").fork({ into: "b" })));
      // A store that writes already and has the fork in memory: a file store looks no further.
      await inProcess(place, [999], async (store) => {
        await store.thread("first").put({ state: { of: "first", n: 0 } });
        await store.thread("b").latest();
        await store.thread("c").put({ state: { of: "c", n: 0 } });
      });
    },
  },
  {
    way: "forks of two threads draw the same number",
    make: async (place: Place): Promise<void> => {
      await inProcess(place, [2000], async (store) => void (await store.thread("a").put({ state: { of: "a", n: 0 } })));
      await inProcess(
        place,
        [3000],
        async (store) => void (await store.thread("source").put({ state: { of: "c", n: 0 } })),
      );
      await inProcess(place, [1000], async (store) => void (await store.thread("a").fork({ into: "b" })));
      // A store that writes already and has the fork in memory: a file store looks no further.
      await inProcess(place, [999], async (store) => {
        await store.thread("first").put({ state: { of: "first", n: 0 } });
        await store.thread("b").latest();
        await store.thread("source").fork({ into: "c" });
      });
    },
  },
];

for (const backend of campaignLocations) {
  it.each(ways)(`threads stay apart when $way, on ${backend.name}`, async ({ make }) => {
    const place = await backend.make();
    await make(place);
    await inProcess(place, [4000], async (store) => {
      const threads = ["a", "b", "c"].map((id) => store.thread(id));
      for (const thread of threads) await thread.latest();
      for (let n = 1; n <= 150; n += 1) {
        for (const thread of threads) await thread.put({ update: { set: { n, [thread.id]: n } } });
      }
    });
    await inProcess(place, [5000], async (store) => {
      for (const [id, of] of Object.entries({ a: "a", b: "a", c: "c" })) {
        const thread = store.thread(id);
        expect((await thread.latest())?.state).toEqual({ of, n: 150, [id]: 150 });
        expect(await thread.count()).toBe(151);
      }
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
      await store.thread("b").delete();
      await store.compact();
      expect((await store.thread("c").latest())?.state).toEqual({ of: "c", n: 150, c: 150 });
      expect(await store.thread("c").count()).toBe(151);
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
    });
    await place.cleanup();
  });
}

it.each(campaignLocations)(
  "a fork takes another number than the tape of any other thread, on $name",
  async (backend) => {
    const place = await backend.make();
    await ways[0]?.make(place);
    const opened = await backendOf(place);
    const tapes: (number | undefined)[] = [];
    for (const id of ["a", "b", "c"]) {
      const [value] = await opened.read([{ get: { table: "directory", id } }]);
      tapes.push(decodeDirectory(value as Value).tape);
    }
    expect(new Set(tapes).size).toBe(3);
    expect([tapes[0], tapes[2]]).toEqual([2000, 1000]);
    await opened.close();
    await place.cleanup();
  },
);
