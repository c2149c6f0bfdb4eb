import { copyFileSync, cpSync, readdirSync, renameSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put } from "../support/tail-records.ts";

const path = folderForEach();

describe("a file store that is open", () => {
  const journal = (): string => path("store", "00000001.jsonl");

  test.each([
    ["is deleted", () => rmSync(journal())],
    ["is renamed", () => renameSync(journal(), path("elsewhere.jsonl"))],
    ["is replaced by an older one", () => renameSync(path("backup.jsonl"), journal())],
  ])("a journal that %s while it is open is MOVED at the next commit, and read anew after it", async (_, change) => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    copyFileSync(journal(), path("backup.jsonl"));
    await put(backend, 2, recordText(2));
    change();
    await expect(put(backend, 3, recordText(3))).rejects.toMatchObject({ code: "MOVED", committed: "unknown" });
    const found = await get(backend, 1);
    expect(await get(backend, 2)).toBeUndefined();
    expect(await get(backend, 3)).toBeUndefined();
    await put(backend, 4, recordText(4));
    await backend.close();
    const again = await file(path("store"));
    expect([await get(again, 1), await get(again, 4)]).toEqual([found, recordText(4)]);
    await again.close();
  });

  test("a directory that is replaced by its backup while it is open is MOVED at the next commit", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    cpSync(path("store"), path("backup"), { recursive: true });
    const writer = await file(path("store"));
    await put(writer, 1, recordText(2));
    renameSync(path("store"), path("old"));
    renameSync(path("backup"), path("store"));
    await expect(put(writer, 2, recordText(2))).rejects.toMatchObject({ code: "MOVED", committed: false });
    expect(await get(writer, 1)).toBe(recordText(1));
    await writer.close();
    expect(readdirSync(path("store")).filter((name) => name.startsWith("lock-"))).toEqual([]);
  });
});
