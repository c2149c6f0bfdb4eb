import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AnyOpenOptions, open, type Store, type ThreadsOptions } from "../../src/index.ts";
import { forwarding, sharedMemory } from "../../src/testing/index.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";

const one = randomBytes(32);
const _two = randomBytes(32);
const keys = { current: "one", keys: { one } };
const encryption = { ...keys, hideIds: true };

function _coded(code: string) {
  return expect.objectContaining({ code });
}

async function ids(store: Store, options: ThreadsOptions = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of store.threads(options)) found.push(id);
  return found;
}

describe("the bytes of a store that hides its ids", () => {
  const MARKERS = ["pomegranate", "quince", "medlar", "rowanberry", "loganberry"] as const;
  const [id, workflow, name, value, run] = MARKERS;

  async function fill(url: string, options: AnyOpenOptions): Promise<Store> {
    const store = await open(url, options);
    for (let n = 0; n < 3; n += 1) {
      const thread = store.thread(`${id} ${n}`);
      await thread.put({ state: {}, workflow, run, attributes: { [name]: value, [`${name}${n}`]: 7 }, due: 1 });
      await thread.fork({ into: `${id} fork ${n}` });
      await (await thread.acquire({ holder: "h" })).release();
    }
    await store.thread(`${id} 2`).delete();
    expect((await ids(store, { workflow, where: { [name]: value } })).sort()).toHaveLength(5);
    return store;
  }

  /** Returns the markers that stand in the files below a folder, or in their names. */
  function leaks(folder: string): string[] {
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const files = paths.filter((path) => statSync(join(folder, path)).isFile());
    const bytes = files.map((path) => readFileSync(join(folder, path)));
    const forms = (marker: string): string[] => [
      marker,
      ...[0, 1, 2].map((cut) => Buffer.from(marker.slice(cut)).toString("base64").slice(0, 7)),
    ];
    return MARKERS.filter((marker) =>
      forms(marker).some((form) => paths.join("\n").includes(form) || bytes.some((content) => content.includes(form))),
    );
  }

  test.each(["sqlite", "file"])(
    "no id, workflow, run or attribute is in the files of a %s: store, open or closed, nor in a backup",
    async (scheme) => {
      const folder = folderOfTest();
      const store = await fill(`${scheme}:${join(folder, "store")}`, { encryption });
      await store.backup(join(folder, "backup.bundle"));
      expect(leaks(folder)).toEqual([]);
      await store.close();
      expect(leaks(folder)).toEqual([]);
      await (await fill(`${scheme}:${join(folder, "visible")}`, { encryption: keys })).close();
      expect(leaks(folder)).toEqual([...MARKERS]);
    },
  );

  test("no key, entry or value that reaches a backend has an id, workflow, run or attribute", async () => {
    const place = sharedMemory();
    const seen: string[] = [];
    const note = (what: unknown): void => {
      seen.push(
        JSON.stringify(what, (_key, inner: unknown) => (inner instanceof Uint8Array ? `${Buffer.from(inner)}` : inner)),
      );
    };
    const watched = forwarding(place, {
      read: async (reads) => {
        note(reads);
        return place.read(reads);
      },
      commit: async (batches) => {
        note(batches);
        return place.commit(batches);
      },
    });
    await fill(watched as never, { encryption });
    expect(seen.length).toBeGreaterThan(20);
    expect(seen.filter((text) => MARKERS.some((marker) => text.includes(marker)))).toEqual([]);
  });
});
