import { cpSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import type { FileSystem } from "../../../src/backends/file/disk/file-system.ts";
import { nodeFileSystem } from "../../../src/backends/file/disk/node-file-system.ts";
import { file } from "../../../src/backends/file/index.ts";
import { open, type Store } from "../../../src/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();

interface State {
  readonly n: number;
  readonly log: readonly string[];
}

const put = (store: Store<State>, thread: string, n: number) =>
  store.thread(thread).put({ state: { n, log: Array.from({ length: n }, (_, index) => `m${index}`) } });

/** A disk that fails to sync once, after somebody else has had a look. */
function failingOnce(): { readonly fileSystem: FileSystem; failAfter(look: () => Promise<unknown>): void } {
  let look: (() => Promise<unknown>) | undefined;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async open(name, mode) {
      const opened = await nodeFileSystem.open(name, mode);
      return {
        stat: () => opened.stat(),
        read: (offset, length) => opened.read(offset, length),
        write: (offset, bytes) => opened.write(offset, bytes),
        truncate: (size) => opened.truncate(size),
        close: () => opened.close(),
        async sync() {
          if (look === undefined) return opened.sync();
          const first = look;
          look = undefined;
          await first();
          throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
        },
      };
    },
  };
  return {
    fileSystem,
    failAfter: (next) => {
      look = next;
    },
  };
}

test("a reader that saw a commit which was taken back does not build on it", async () => {
  const disk = failingOnce();
  const writer = await open<State>(await file(path("store"), { fileSystem: disk.fileSystem }));
  const reader = await open<State>(`file:${path("store")}`);
  for (let n = 1; n <= 3; n += 1) await put(writer, "t", n);
  disk.failAfter(async () => expect((await reader.thread("t").latest())?.state.n).toBe(4));
  await expect(put(writer, "t", 4)).rejects.toMatchObject({ code: "BACKEND" });
  await writer.close();
  await put(reader, "t", 5);
  await reader.close();
  const again = await open<State>(`file:${path("store")}`);
  const numbers: number[] = [];
  for await (const { state } of again.thread("t").history({ states: true })) numbers.push(state.n);
  expect(numbers).toEqual([5, 3, 2, 1]);
  expect(await again.verify()).toEqual({ ok: true, faults: [] });
  await again.close();
});

test("a directory that was put back to what it was is gone on from as it is now", async () => {
  const store = await open<State>(`file:${path("store")}`);
  for (let n = 1; n <= 5; n += 1) for (const thread of ["x", "y"]) await put(store, thread, n);
  cpSync(path("store"), path("backup"), { recursive: true, filter: (name) => !name.includes("lock-") });
  for (let n = 6; n <= 10; n += 1) for (const thread of ["x", "y"]) await put(store, thread, n);
  rmSync(path("store"), { recursive: true });
  cpSync(path("backup"), path("store"), { recursive: true });
  // That the lock is gone is told once.
  await expect(put(store, "x", 11)).rejects.toMatchObject({ code: "MOVED" });
  for (const thread of ["x", "y"]) await put(store, thread, 11);
  await store.close();
  const again = await open<State>(`file:${path("store")}`);
  for (const thread of ["x", "y"]) {
    expect((await again.thread(thread).latest())?.state.log).toHaveLength(11);
    expect(await again.thread(thread).count()).toBe(6);
  }
  expect(await again.verify()).toEqual({ ok: true, faults: [] });
  await again.close();
});
