import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Backend, Value } from "../../../src/backend.ts";
import { nodeFileSystem } from "../../../src/backends/file/disk/node-file-system.ts";
import type { FileSystem } from "../../../src/backends/file/index.ts";
import { file } from "../../../src/backends/file/index.ts";
import { PATIENCE } from "../../../src/platform/attempts.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();
const writerProcess = new URL("./support/writer-process.ts", import.meta.url).pathname;

function roundOf(value: Value | undefined): number {
  return value === undefined ? 0 : (JSON.parse((value as string).slice(10)) as { readonly round: number }).round;
}

/** The rounds that two lineages and the directory are at, from one snapshot. */
async function rounds(backend: Backend): Promise<readonly number[]> {
  const keys = [
    tail(1, 1),
    tail(1, 2),
    { table: "directory", id: "thread" } as const,
    tail(2, 1),
    tail(3, 1),
    tail(2, 2),
  ];
  return (await backend.read(keys.map((get) => ({ get })))).map((value) => roundOf(value as Value | undefined));
}

describe("readers without the lock", () => {
  test("readers without the lock see whole commits only, in order, while another process writes and compacts", async () => {
    const writer = spawn(process.execPath, [writerProcess, path("store"), "200"]);
    const ended = once(writer, "exit");
    const reader = await file(path("store"), { readOnly: true });
    let last = 0;
    let looks = 0;
    while (last < 200 && writer.exitCode === null) {
      const [one = 0, two, thread, second, third, other] = await rounds(reader);
      expect([two, thread]).toEqual([one, one]);
      expect(third).toBe(second);
      expect([one, one - 1]).toContain(second);
      expect([second, (second ?? 0) - 1]).toContain(other);
      expect(one).toBeGreaterThanOrEqual(last);
      last = one;
      looks++;
    }
    await ended;
    expect(writer.exitCode).toBe(0);
    expect(await rounds(reader)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await reader.verify()).toEqual([]);
    expect(looks).toBeGreaterThan(5);
    await reader.close();
  });

  test("readers without the lock see what another backend of the process commits, deletes and compacts", async () => {
    const writer = await file(path("store"), { fsync: "normal" });
    const reader = await file(path("store"));
    for (let round = 1; round <= 30; round++) {
      await put(writer, round % 5, recordText(round));
      expect(await get(reader, round % 5)).toBe(recordText(round));
      if (round % 10 === 0) await writer.compact();
      if (round % 7 === 0) await writer.commit([{ deletes: [tail(round % 5)] }]);
      expect(await get(reader, round % 5)).toBe(round % 7 === 0 ? undefined : recordText(round));
    }
    await writer.close();
    await put(reader, 1, recordText("now mine"));
    expect(await get(reader, 1)).toBe(recordText("now mine"));
    await reader.close();
  });

  test("readers without the lock do not see a batch that is half written, and see it once it is whole", async () => {
    const writer = await file(path("store"));
    await put(writer, 1, recordText(1));
    await writer.commit([
      {
        puts: [
          { key: tail(2), value: recordText(2) },
          { key: tail(3), value: recordText(3) },
        ],
      },
    ]);
    await writer.close();
    const journal = path("store", "00000001.jsonl");
    const whole = readFileSync(journal);
    const reader = await file(path("store"), { readOnly: true });
    const start = whole.indexOf('{"batch":2');
    for (let length = start; length < whole.length; length += 29) {
      writeFileSync(journal, whole.subarray(0, length));
      expect([await get(reader, 1), await get(reader, 2), await get(reader, 3)]).toEqual([
        recordText(1),
        undefined,
        undefined,
      ]);
    }
    writeFileSync(journal, whole);
    expect([await get(reader, 1), await get(reader, 2), await get(reader, 3)]).toEqual([
      recordText(1),
      recordText(2),
      recordText(3),
    ]);
    await reader.close();
  });

  test("readers without the lock notice that a batch they saw was cut away and another written in its place", async () => {
    const writer = await file(path("store"));
    for (let item = 1; item <= 3; item++) await put(writer, item, recordText(item));
    await writer.close();
    const journal = path("store", "00000001.jsonl");
    const whole = readFileSync(journal);
    const start = whole.indexOf('{"batch":3');
    const reader = await file(path("store"), { readOnly: true });
    for (const value of [recordText("three"), recordText("another three, longer than what was there"), recordText(3)]) {
      expect(await get(reader, 3)).toBe(recordText(3));
      truncateSync(journal, start);
      const again = await file(path("store"));
      await put(again, 3, value);
      await again.close();
      expect(await get(reader, 3)).toBe(value);
      expect(await get(reader, 2)).toBe(recordText(2));
      writeFileSync(journal, whole);
    }
    await reader.close();
  });
});

describe("a reader of journals that never rest", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns a disk on which journals differ at each of the first `changes` looks at them. */
  function restless(changes: number, onLook: () => void = () => {}): FileSystem {
    let looks = 0;
    return {
      ...nodeFileSystem,
      async stat(name) {
        const state = await nodeFileSystem.stat(name);
        onLook();
        looks += 1;
        return state && looks <= changes ? { ...state, changed: `look ${looks}` } : state;
      },
    };
  }

  async function write(): Promise<void> {
    const writer = await file(path("store"));
    await put(writer, 1, recordText(1));
    await writer.commit([{ puts: [{ key: { table: "directory", id: "thread" }, value: recordText(2) }] }]);
    await writer.close();
  }

  const reads = [{ get: tail(1, 1) }, { get: { table: "directory", id: "thread" } as const }];

  test("a reader goes on looking however often the journals changed, as long as there is time", async () => {
    await write();
    const reader = await file(path("store"), { readOnly: true, fileSystem: restless(6_000) });
    expect(await reader.read(reads)).toEqual([recordText(1), recordText(2)]);
    await reader.close();
  });

  test("a reader fails with BACKEND when the journals have changed for as long as it may take", async () => {
    await write();
    vi.useFakeTimers({ toFake: ["performance"] });
    const fileSystem = restless(Number.POSITIVE_INFINITY, () => vi.advanceTimersByTime(PATIENCE / 100));
    const reader = await file(path("store"), { readOnly: true, fileSystem });
    await expect(reader.read(reads)).rejects.toMatchObject({
      code: "BACKEND",
      message: expect.stringContaining("Another process keeps writing"),
    });
    await reader.close();
  });
});
