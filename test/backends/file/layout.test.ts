import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Backend, Listed } from "../../../src/backend.ts";
import { nodeFileSystem } from "../../../src/backends/file/disk/node-file-system.ts";
import { type FileSystem, file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();

async function name(backend: Backend, id: string, lineage: number): Promise<void> {
  const batch = { inserts: [{ key: { table: "directory", id } as const, value: recordText({ lineage }) }] };
  await backend.commit([{ ...batch, puts: [{ key: tail(1, lineage), value: recordText({ step: 0 }) }] }]);
}

describe("what is on disk", () => {
  test("files are named by numbers, whatever the ids are", async () => {
    const ids = ["../escape", "/etc/x", "a/b", "CON", "A", "a", "é", "e\u0301", "😀".repeat(128), ".", "x".repeat(512)];
    const backend = await file(path("store"));
    for (const [index, id] of ids.entries()) await name(backend, id, index + 10);
    const [listed] = await backend.read([{ list: { limit: 100 } }]);
    expect((listed as readonly Listed[]).map(({ id }) => id).sort()).toEqual(ids.toSorted());
    await backend.close();
    expect(readdirSync(path())).toEqual(["store"]);
    const names = readdirSync(path("store"));
    expect(names.every((one) => /^(?:[0-9a-f]{8}|directory)\.jsonl$/.test(one))).toBe(true);
    expect(names.length).toBe(ids.length + 1);
  });

  test("a journal is one JSON record a line", async () => {
    const backend = await file(path("store"));
    await name(backend, 'odd "id"', 1);
    await put(backend, 2, recordText('\u2028 é 😀 " \\ \n'));
    await put(backend, 3, Uint8Array.from([0, 10, 255]));
    await put(backend, 4, "no envelope\n");
    await put(backend, 5, "1j00000000\ud800 half a pair, as text");
    await backend.commit([{ deletes: [tail(2), { table: "tail", lineage: 1, group: 1, to: 1 }] }]);
    expect(await get(backend, 4)).toBe("no envelope\n");
    expect(await get(backend, 5)).toBe("1j00000000\ud800 half a pair, as text");
    await backend.close();
    for (const journal of readdirSync(path("store"))) {
      const lines = readFileSync(path("store", journal), "utf8").trimEnd().split("\n");
      for (const line of lines) expect(JSON.parse(line)).toMatchObject({ batch: expect.any(Number) });
    }
  });

  const hasJq = spawnSync("/usr/bin/env", ["jq", "--version"]).status === 0;
  test.skipIf(!hasJq)("jq prints the last checkpoint's step, node and change (needs jq)", async () => {
    const backend = await file(path("store"));
    for (let step = 1; step <= 3; step++) {
      const value = recordText({ id: `c${step}`, step, node: "plan", change: { d: { s: { n: step } } } });
      const meta = { key: { ...tail(1), table: "meta" } as const, value: recordText({ version: step }) };
      await backend.commit([{ inserts: [{ key: tail(step), value }], puts: [meta] }]);
    }
    await backend.close();
    const journal = path("store", "00000001.jsonl");
    for (const line of readFileSync(journal, "utf8").trimEnd().split("\n"))
      expect(() => JSON.parse(line)).not.toThrow();
    const input = readFileSync(journal, "utf8").trimEnd().split("\n").at(-1) as string;
    const { stdout } = spawnSync("/usr/bin/env", ["jq", "-c", ".value | {step, node, change}"], {
      input,
      encoding: "utf8",
    });
    expect(stdout).toBe('{"step":3,"node":"plan","change":{"d":{"s":{"n":3}}}}\n');
  });

  test("a journal of a newer format is VERSION, and stays as it is", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    const journal = path("store", "00000001.jsonl");
    const { encodeLine } = await import("../../../src/backends/file/format/line-writer.ts");
    const frame = { batch: 1, record: 1, of: 1, start: 0, synced: undefined, joint: false };
    const prior = { operation: undefined, length: 0, crc: 0 };
    const newer = encodeLine(0, frame, { is: "format", format: 3, lineage: 1 }, undefined, prior);
    writeFileSync(journal, newer);
    const again = await file(path("store"));
    await expect(get(again, 1)).rejects.toMatchObject({ code: "VERSION" });
    await expect(put(again, 1, recordText(2))).rejects.toMatchObject({ code: "VERSION" });
    expect(await again.verify()).toEqual([expect.stringContaining("format 3")]);
    await again.close();
    expect(readFileSync(journal)).toEqual(newer);
  });

  test("a journal of the first format is written on, and declares the second from then on", async () => {
    const { encodeLine } = await import("../../../src/backends/file/format/line-writer.ts");
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    const journal = path("store", "00000001.jsonl");
    const frame = { batch: 1, record: 1, of: 1, start: 0, synced: undefined, joint: false };
    const none = { operation: undefined, length: 0, crc: 0 };
    writeFileSync(journal, encodeLine(0, frame, { is: "format", format: 1, lineage: 1 }, undefined, none));
    const reading = await file(path("store"), { readOnly: true });
    expect(await get(reading, 1)).toBeUndefined();
    await reading.close();
    const again = await file(path("store"));
    await put(again, 2, recordText(2));
    await put(again, 3, recordText(3));
    await again.close();
    const formats = readFileSync(journal, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).format);
    expect(formats).toEqual([1, 2, undefined, undefined]);
    const third = await file(path("store"));
    expect(await get(third, 2)).toBe(recordText(2));
    expect(await third.verify()).toEqual([]);
    await third.close();
  });

  test("a journal under another journal's name is CORRUPT, and the others read", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1), 1);
    await put(backend, 1, recordText(2), 2);
    await backend.close();
    copyFileSync(path("store", "00000001.jsonl"), path("store", "00000002.jsonl"));
    const again = await file(path("store"));
    await expect(get(again, 1, 2)).rejects.toMatchObject({ code: "CORRUPT" });
    expect(await get(again, 1, 1)).toBe(recordText(1));
    await again.close();
  });

  test("other files in the directory are left alone", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    for (const one of ["README.md", "0000000A.jsonl", "1.jsonl", "00000001.jsonl.bak"]) {
      writeFileSync(path("store", one), "mine");
    }
    await backend.compact();
    expect(await backend.verify()).toEqual([]);
    await backend.close();
    expect(readFileSync(path("store", "00000001.jsonl.bak"), "utf8")).toBe("mine");
  });

  test("a copy made with ordinary tools is a store", async () => {
    const backend = await file(path("store"));
    await name(backend, "a", 1);
    await put(backend, 2, recordText({ step: 2 }));
    cpSync(path("store"), path("copy"), { recursive: true });
    await backend.close();
    const copy = await file(path("copy"), { readOnly: true });
    expect(await get(copy, 2)).toBe(recordText({ step: 2 }));
    await copy.close();
  });

  test("readOnly changes nothing, and says so", async () => {
    const backend = await file(path("store"), { readOnly: true });
    await expect(put(backend, 1, recordText(1))).rejects.toMatchObject({ code: "READ_ONLY" });
    await expect(backend.compact()).rejects.toMatchObject({ code: "READ_ONLY" });
    expect(await get(backend, 1)).toBeUndefined();
    expect(existsSync(path("store"))).toBe(false);
    await backend.close();
  });
});

describe("what is read", () => {
  /** The disk, with a count of the bytes that were read and the files that were opened. */
  function counting(): FileSystem & { readonly read: { bytes: number; opened: Set<string> } } {
    const read = { bytes: 0, opened: new Set<string>() };
    return {
      ...nodeFileSystem,
      read,
      async open(target, mode) {
        const opened = await nodeFileSystem.open(target, mode);
        if (mode === "read") read.opened.add(target);
        return {
          stat: () => opened.stat(),
          write: (position, bytes) => opened.write(position, bytes),
          truncate: (size) => opened.truncate(size),
          sync: () => opened.sync(),
          close: () => opened.close(),
          async read(position, length) {
            read.bytes += length;
            return opened.read(position, length);
          },
        };
      },
    };
  }

  test("opening reads nothing, and reading one lineage reads no other", async () => {
    const backend = await file(path("store"), { fsync: "normal" });
    for (let lineage = 1; lineage <= 30; lineage++) {
      const inserts = Array.from({ length: 100 }, (_, item) => ({
        key: tail(item, lineage),
        value: recordText("x".repeat(500)),
      }));
      await backend.commit([{ inserts }]);
    }
    await backend.close();
    const fileSystem = counting();
    const again = await file(path("store"), { fileSystem });
    expect(fileSystem.read).toEqual({ bytes: 0, opened: new Set() });
    await get(again, 5, 7);
    expect([...fileSystem.read.opened]).toEqual([path("store", "00000007.jsonl")]);
    const { size } = statSync(path("store", "00000007.jsonl"));
    expect(fileSystem.read.bytes).toBeLessThan(2.5 * size);
    fileSystem.read.bytes = 0;
    await get(again, 6, 7);
    expect(fileSystem.read.bytes).toBeLessThan(1500);
    await again.close();
  });

  test("more lineages than stay in memory: all read, and few files stay open", async () => {
    const backend = await file(path("store"), { fsync: "normal" });
    const count = 600;
    for (let lineage = 1; lineage <= count; lineage++) await put(backend, 1, recordText(lineage), lineage);
    for (let lineage = 1; lineage <= count; lineage++) {
      await put(backend, 2, recordText(-lineage), lineage);
      expect(await get(backend, 1, lineage)).toBe(recordText(lineage));
    }
    const open = readdirSync("/proc/self/fd").length;
    expect(open).toBeLessThan(count);
    await backend.close();
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(open - 200);
    const reader = await file(path("store"));
    for (let lineage = 1; lineage <= count; lineage++) expect(await get(reader, 2, lineage)).toBe(recordText(-lineage));
    expect((await reader.size()).tables.tail.records).toBe(2 * count);
    await reader.close();
  });
});
