import { afterEach, describe, expect, it } from "vitest";
import { open, type Store } from "../../src/index.ts";
import { directory } from "../../src/large-values/index.ts";
import { folderForEach } from "../support/folders-of-tests.ts";
import { locations, type Place } from "../support/places.ts";

const path = folderForEach();

interface Library {
  readonly documents: string[];
  readonly n: number;
}

const documentLength = 9_000_000;
const made = (start: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${start + index} `.repeat(documentLength / 4).slice(0, documentLength));

const bytesOf = async (store: Store<Library>): Promise<number> =>
  Object.values((await store.measure()).bytes).reduce((sum, bytes) => sum + bytes, 0);

const served = locations.filter(({ name }) => /sqlite|postgres/i.test(name));

describe.each(served)("large values on $name", (backend) => {
  let place: Place;
  let store: Store<Library> | undefined;

  const openStore = async (driver?: ReturnType<typeof directory>): Promise<Store<Library>> => {
    store = await open<Library>(place.url, { ...place.options, ...(driver && { largeValues: { driver } }) });
    return store;
  };

  afterEach(async () => {
    await store?.close();
    await place.cleanup();
  });

  it.each([false, true])(
    "A state of 117 MB is stored once, steps and forks as a small one. Outside: %s.",
    async (outside) => {
      place = await backend.make();
      const driver = outside ? directory(path("values")) : undefined;
      const documents = made(1_000, 13);
      const first = await openStore(driver);
      await first.thread("t").put({ state: { documents, n: 0 } });
      const before = await bytesOf(first);
      for (let n = 1; n <= 10; n += 1) await first.thread("t").put({ update: { set: { n } } });
      await first.thread("t").fork({ into: "fork", edits: { n: 100 } });
      expect((await bytesOf(first)) - before).toBeLessThan(200_000);
      await first.close();
      const second = await openStore(driver);
      expect((await second.thread("fork").latest())?.state.n).toBe(100);
      const read = (await second.thread("t").latest())?.state as Library;
      expect(read.n).toBe(10);
      expect(read.documents.every((text, index) => text === documents[index])).toBe(true);
      await second.thread("t").delete();
      expect(await second.verify()).toEqual({ ok: true, faults: [] });
      expect((await second.thread("fork").latest())?.state.documents).toHaveLength(13);
    },
  );

  it("Puts of six threads at once, with 1.1 GB of large values together, all succeed.", async () => {
    place = await backend.make();
    const opened = await openStore();
    const threads = ["a", "b", "c", "d", "e", "f"];
    const documents = made(1_000, 21);
    // No thread shares a value with another: each belongs to a lineage of its own.
    await Promise.all(threads.map((id, n) => opened.thread(id).put({ state: { documents, n } })));
    for (const [n, id] of threads.entries()) {
      const state = (await opened.thread(id).latest())?.state as Library;
      expect(state.n).toBe(n);
      expect(state.documents.every((text, index) => text === documents[index])).toBe(true);
    }
  });
});
