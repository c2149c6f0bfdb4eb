import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put, tail } from "../support/tail-records.ts";
import { seeded } from "./support/random.ts";
import { SimulatedDisk } from "./support/simulated-disk.ts";

const path = folderForEach();

/** Whether any file of the store still holds the text. */
function onDisk(content: string): boolean {
  return readdirSync(path("store")).some((name) => readFileSync(path("store", name)).includes(content));
}

describe("compact", () => {
  test("compact leaves no deleted or overwritten value in any file, and gives room back", async () => {
    let backend = await file(path("store"));
    const secret = (index: number): string => `secret-${index}-${"s".repeat(index * 97)}-end`;
    for (let item = 0; item < 100; item++) await put(backend, item, recordText(secret(item)));
    await put(backend, 1000, recordText("overwritten secret"));
    await put(backend, 1000, recordText("kept"));
    const write = { table: "write", lineage: 2, group: 2, item: 5, part: 5 } as const;
    const thread = { table: "directory", id: "secret thread" } as const;
    await backend.commit([{ puts: [write, thread].map((key) => ({ key, value: recordText("secret write") })) }]);
    await backend.close();
    backend = await file(path("store"));
    await backend.commit([{ deletes: [{ table: "tail", lineage: 1, group: 1, to: 199 }, write, thread] }]);
    writeFileSync(path("store", "00000001.jsonl.new"), "secret of a compaction that was cut short");
    expect(onDisk("secret")).toBe(true);
    const before = (await backend.size()).total as number;
    await backend.compact();
    expect(onDisk("secret")).toBe(false);
    expect((await backend.size()).total).toBeLessThan(before / 10);
    expect(await get(backend, 1000)).toBe(recordText("kept"));
    expect(await backend.verify()).toEqual([]);
    await backend.close();
    expect(readdirSync(path("store"))).toEqual(["00000001.jsonl", "directory.jsonl"]);
  });

  test("a power cut after compact has returned does not bring deleted records back", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const disk = new SimulatedDisk(seeded(seed));
      const backend = await file("/store", { fileSystem: disk.process() });
      await put(backend, 1, recordText("secret"));
      await put(backend, 2, recordText("kept"));
      await put(backend, 3, recordText("secret"), 2);
      await backend.commit([{ deletes: [tail(1)] }, { deletes: [tail(3, 2)] }]);
      await backend.compact();
      disk.cutPower();
      const names = (await disk.process().list("/store")) ?? [];
      for (const name of names) expect(disk.contentOf(`/store/${name}`).includes("secret"), name).toBe(false);
      const again = await file("/store", { fileSystem: disk.process() });
      expect(await get(again, 2)).toBe(recordText("kept"));
    }
  });

  test("a second compact changes nothing", async () => {
    const backend = await file(path("store"));
    for (let item = 0; item < 10; item++) await put(backend, item % 3, recordText(item));
    await backend.compact();
    const journal = readFileSync(path("store", "00000001.jsonl"));
    await backend.compact();
    expect(readFileSync(path("store", "00000001.jsonl"))).toEqual(journal);
    await backend.close();
  });

  test("compact leaves a damaged journal as it is, compacts the others, and says so", async () => {
    const backend = await file(path("store"));
    for (const lineage of [1, 2]) {
      await put(backend, 1, recordText("gone"), lineage);
      await backend.commit([{ deletes: [tail(1, lineage)] }]);
      for (const item of [2, 3]) await put(backend, item, recordText(item), lineage);
    }
    await backend.close();
    const journal = path("store", "00000001.jsonl");
    const damaged = readFileSync(journal);
    damaged[damaged.indexOf('"item":2') + 7] = 0x39;
    writeFileSync(journal, damaged);
    const again = await file(path("store"));
    await expect(again.compact()).rejects.toMatchObject({ code: "CORRUPT" });
    expect(readFileSync(journal)).toEqual(damaged);
    expect(readFileSync(path("store", "00000002.jsonl")).includes("gone")).toBe(false);
    expect(await get(again, 3)).toBe(recordText(3));
    await expect(get(again, 2)).rejects.toMatchObject({ code: "CORRUPT" });
    await again.commit([{ deletes: [tail(2)] }]);
    await again.compact();
    expect(await again.verify()).toEqual([]);
    await again.close();
  });

  test("a journal that is mostly garbage is compacted by itself", async () => {
    const backend = await file(path("store"), { fsync: "normal" });
    const value = recordText("x".repeat(10_000));
    for (let round = 0; round < 400; round++) await put(backend, round % 4, value);
    await backend.close();
    expect(statSync(path("store", "00000001.jsonl")).size).toBeLessThan(1_300_000);
    const again = await file(path("store"));
    for (let item = 0; item < 4; item++) expect(await get(again, item)).toBe(value);
    expect(await again.verify()).toEqual([]);
    await again.close();
  });

  test("a compaction that starts by itself never disturbs reads and commits", async () => {
    const backend = await file(path("store"), { fsync: "normal" });
    const values = new Map<number, string>();
    for (let round = 0; round < 300; round++) {
      const value = recordText({ round, filler: "x".repeat(20_000) });
      const commits = [put(backend, round % 3, value), put(backend, 10 + (round % 3), value)];
      const reads = [0, 1, 2].map((item) => get(backend, item));
      for (const [item, read] of reads.entries()) {
        const seen = await read;
        expect([values.get(item), item === round % 3 ? value : undefined]).toContain(seen);
      }
      await Promise.all(commits);
      values.set(round % 3, value);
    }
    await backend.close();
  });
});
