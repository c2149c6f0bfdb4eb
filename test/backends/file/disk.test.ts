import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();
const large = recordText("x".repeat(50_000));
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

/** Runs an action on a small file system of its own. */
async function onSmallDisk(megabytes: number, action: (directory: string) => Promise<void>): Promise<void> {
  const mounted = path("small");
  mkdirSync(mounted);
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "none", mounted]);
  try {
    await action(mounted);
  } finally {
    execFileSync("/bin/umount", [mounted]);
  }
}

/** Commits until there is no room; gives the number of the first item that did not fit, and the error. */
async function fillUp(backend: Backend): Promise<{ item: number; error: unknown }> {
  for (let item = 1; item < 1000; item++) {
    try {
      await backend.commit([{ inserts: [{ key: tail(item), value: large }] }]);
    } catch (error) {
      return { item, error };
    }
  }
  throw new Error("the disk never filled up");
}

describe("a disk that cannot take it", () => {
  test.skipIf(!isRoot)(
    "full: BACKEND, what was there reads, the next commit works once there is room (needs root: it mounts a small one)",
    () =>
      onSmallDisk(2, async (mounted) => {
        const backend = await file(join(mounted, "store"));
        await put(backend, 0, recordText(0));
        writeFileSync(join(mounted, "ballast"), Buffer.alloc(1_000_000));
        const { item, error } = await fillUp(backend);
        expect(error).toMatchObject({ code: "BACKEND", committed: false, cause: { code: "ENOSPC" } });
        for (let earlier = 1; earlier < item; earlier++) expect(await get(backend, earlier)).toBe(large);
        expect(await get(backend, item)).toBeUndefined();
        await expect(put(backend, item, large)).rejects.toMatchObject({ code: "BACKEND", committed: false });
        await put(backend, item, recordText("small enough"));
        rmSync(join(mounted, "ballast"));
        await put(backend, item, large);
        expect(await get(backend, item)).toBe(large);
        expect(await backend.verify()).toEqual([]);
        await backend.close();
        const reopened = await file(join(mounted, "store"));
        expect(await get(reopened, item)).toBe(large);
        await reopened.close();
      }),
  );

  test.skipIf(!isRoot)("read-only: BACKEND with the cause, and what was there reads (needs root: it mounts one)", () =>
    onSmallDisk(2, async (mounted) => {
      const backend = await file(join(mounted, "store"));
      await put(backend, 1, recordText(1));
      await backend.close();
      execFileSync("/bin/mount", ["-o", "remount,ro", mounted]);
      const reader = await file(join(mounted, "store"));
      expect(await get(reader, 1)).toBe(recordText(1));
      expect(await reader.verify()).toEqual([]);
      await expect(put(reader, 2, recordText(2))).rejects.toMatchObject({
        code: "BACKEND",
        committed: false,
        cause: { code: "EROFS" },
      });
      await expect(reader.compact()).rejects.toMatchObject({ code: "BACKEND", cause: { code: "EROFS" } });
      expect(await get(reader, 1)).toBe(recordText(1));
      await reader.close();
      const absent = await file(join(mounted, "another", "store"));
      expect(await get(absent, 1)).toBeUndefined();
      await expect(put(absent, 1, recordText(1))).rejects.toMatchObject({ code: "BACKEND", cause: { code: "EROFS" } });
      await absent.close();
    }),
  );

  test("permission denied: BACKEND with the cause, and what was there reads", async () => {
    const backend = await file(path("store"), { mode: 0o644 });
    await put(backend, 1, recordText(1));
    await backend.close();
    chmodSync(path(), 0o755);
    chmodSync(path("store"), 0o555);
    const script = new URL("./support/denied-process.ts", import.meta.url).pathname;
    const { stdout, stderr } = spawnSync(process.execPath, [script, path("store")], { encoding: "utf8" });
    chmodSync(path("store"), 0o755);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ read: recordText(1), code: "BACKEND", committed: false, cause: "EACCES" });
  });

  test("a file where the directory should be: BACKEND with the cause, and the file stays", async () => {
    writeFileSync(path("store"), "somebody's notes");
    await expect(file(path("store"))).rejects.toMatchObject({ code: "BACKEND", cause: { code: "ENOTDIR" } });
    const below = await file(path("store", "below"));
    await expect(get(below, 1)).rejects.toMatchObject({ code: "BACKEND", cause: { code: "ENOTDIR" } });
    await expect(put(below, 1, recordText(1))).rejects.toMatchObject({ code: "BACKEND", committed: false });
    await below.close();
    expect(readFileSync(path("store"), "utf8")).toBe("somebody's notes");
  });

  test("the directory removed while open: MOVED once, then a new store", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    rmSync(path("store"), { recursive: true });
    await expect(put(backend, 2, recordText(2))).rejects.toMatchObject({ code: "MOVED", committed: false });
    expect(await get(backend, 1)).toBeUndefined();
    await put(backend, 2, recordText(2));
    expect(await get(backend, 2)).toBe(recordText(2));
    await backend.close();
    rmSync(path("store"), { recursive: true });
    const again = await file(path("store"));
    await put(again, 1, recordText(1));
    rmSync(path("store"), { recursive: true });
    await again.close();
  });
});

describe("links inside the directory are not followed", () => {
  test("a journal that is a link gives BACKEND, and what it points to stays as it is", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1), 1);
    await put(backend, 1, recordText(2), 2);
    await backend.close();
    renameSync(path("store", "00000001.jsonl"), path("elsewhere.jsonl"));
    symlinkSync(path("elsewhere.jsonl"), path("store", "00000001.jsonl"));
    const before = readFileSync(path("elsewhere.jsonl"), "utf8");
    const again = await file(path("store"));
    await expect(get(again, 1, 1)).rejects.toMatchObject({ code: "BACKEND", cause: { code: "ELOOP" } });
    await expect(put(again, 2, recordText(2), 1)).rejects.toMatchObject({ code: "BACKEND", committed: false });
    expect(await get(again, 1, 2)).toBe(recordText(2));
    expect(await again.verify()).toEqual([expect.stringContaining("links are not followed")]);
    await again.close();
    expect(readFileSync(path("elsewhere.jsonl"), "utf8")).toBe(before);
  });

  test("a link is not followed where a new or rewritten journal would go", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await put(backend, 1, recordText(2));
    symlinkSync(path("outside"), path("store", "00000002.jsonl"));
    symlinkSync(path("outside"), path("store", "00000001.jsonl.new"));
    await expect(put(backend, 1, recordText(1), 2)).rejects.toMatchObject({ code: "BACKEND", committed: false });
    rmSync(path("store", "00000002.jsonl"));
    await backend.compact();
    await backend.close();
    expect(readdirSync(path())).toEqual(["store"]);
  });

  test("the directory of a store may be a link", async () => {
    mkdirSync(path("real"));
    symlinkSync(path("real"), path("store"));
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    expect(readdirSync(path("real"))).toEqual(["00000001.jsonl"]);
  });
});
