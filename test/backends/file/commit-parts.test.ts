import { describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Batch } from "../../../src/backend.ts";
import { nodeFileSystem } from "../../../src/backends/file/disk/node-file-system.ts";
import { type FileSystem, file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put, tail } from "../support/tail-records.ts";
import { seeded } from "./support/random.ts";
import { SimulatedDisk } from "./support/simulated-disk.ts";

const path = folderForEach();
const count = 1000;

/** Returns a batch for each lineage. */
function batches(value: unknown): Batch[] {
  return Array.from({ length: count }, (_, index) => ({
    inserts: [{ key: tail(1, index + 1), value: recordText(value) }],
  }));
}

/** The disk, with a count of the files that are open, and of the most that ever were. */
function counting(): FileSystem & { readonly files: { open: number; most: number } } {
  const files = { open: 0, most: 0 };
  return {
    ...nodeFileSystem,
    files,
    async open(target, mode) {
      const opened = await nodeFileSystem.open(target, mode);
      files.open++;
      files.most = Math.max(files.most, files.open);
      return {
        stat: () => opened.stat(),
        read: (position, length, room) => opened.read(position, length, room),
        write: (position, bytes) => opened.write(position, bytes),
        truncate: (size) => opened.truncate(size),
        sync: () => opened.sync(),
        async close() {
          files.open--;
          await opened.close();
        },
      };
    },
  };
}

describe("a commit of more lineages than a process may have files open", () => {
  test("a commit of more lineages than a process may have files open has few open at a time, and answers in order", async () => {
    const fileSystem = counting();
    const backend = await file(path("store"), { fsync: "normal", fileSystem });
    await put(backend, 1, recordText("first"), 7);
    await put(backend, 1, recordText("first"), 900);
    const expected = Array.from({ length: count }, (_, index) => index !== 6 && index !== 899);
    expect(await backend.commit(batches("second"))).toEqual(expected);
    expect(await backend.commit(batches("third"))).toEqual(expected.map(() => false));
    expect(fileSystem.files.most).toBeLessThan(800);
    for (const lineage of [1, 128, 129, 1000]) expect(await get(backend, 1, lineage)).toBe(recordText("second"));
    for (const lineage of [7, 900]) expect(await get(backend, 1, lineage)).toBe(recordText("first"));
    await backend.close();
    expect(fileSystem.files.open).toBe(0);
  });

  test("a commit of many lineages that fails after some of it was applied says that its outcome is unknown, whatever the fault", async () => {
    const disk = new SimulatedDisk(seeded(1));
    const backend = await file("/store", { fileSystem: disk.process() });
    const journal = "/store/00000384.jsonl";
    disk.failing = (operation, target) => (operation === "write" && target === journal ? "EIO" : undefined);
    const failed = backend.commit(batches("first"));
    await expect(failed).rejects.toMatchObject({ code: "BACKEND", committed: "unknown", cause: { code: "EIO" } });
    expect([await get(backend, 1, 1), await get(backend, 1, 900)]).toEqual([recordText("first"), undefined]);
    disk.failing = () => undefined;
    await put(backend, 1, recordText("second"), 900);
    await put(backend, 2, recordText("second"), 900);
    await backend.close();
    disk.overwrite(journal, Buffer.concat([Buffer.from("\n"), disk.contentOf(journal)]));
    const again = await file("/store", { fileSystem: disk.process() });
    const deletes = (lineage: number): Batch => ({ deletes: [tail(1, lineage)] });
    const puts = batches("third").map(({ inserts = [] }) => ({ puts: inserts }));
    await expect(again.commit(puts)).rejects.toMatchObject({
      code: "BACKEND",
      committed: "unknown",
      cause: { code: "CORRUPT" },
    });
    await expect(again.commit([deletes(900)])).rejects.toMatchObject({ code: "CORRUPT" });
    expect(await get(again, 1, 1)).toBe(recordText("third"));
    await again.close();
  });

  test("puts to more threads in one turn than a process may have files open are all there", async () => {
    const fileSystem = counting();
    const store = await open<{ n: number }>(await file(path("store"), { fsync: "normal", fileSystem }));
    const threads = Array.from({ length: 600 }, (_, n) => store.thread(`t${n}`));
    for (let round = 0; round < 2; round++) {
      await Promise.all(threads.map((thread, n) => thread.put({ state: { n: n + round } })));
    }
    expect(fileSystem.files.most).toBeLessThan(800);
    for (const n of [0, 128, 599]) expect((await threads[n]?.latest())?.state).toEqual({ n: n + 1 });
    await store.close();
  });
});
