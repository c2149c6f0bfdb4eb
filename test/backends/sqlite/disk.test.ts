import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { nodeDriver } from "../../../src/backends/sqlite/driver/node-driver.ts";
import type { Driver } from "../../../src/backends/sqlite/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();
const large = `t1........${"x".repeat(50_000)}`;

/** Commits until there is no room; gives the number of the first item that did not fit, and the error. */
async function fillUp(backend: Backend): Promise<{ item: number; error: unknown }> {
  for (let item = 1; item < 1000; item++) {
    try {
      await backend.commit([{ inserts: [{ key: tail(item), value: large }], deletes: [tail(999)] }]);
    } catch (error) {
      return { item, error };
    }
  }
  throw new Error("the disk never filled up");
}

async function expectRoom(backend: Backend, first: number): Promise<void> {
  for (let item = 1; item < first; item++) expect(await get(backend, item)).toBe(large);
  expect(await get(backend, first)).toBeUndefined();
}

test.skipIf(process.platform !== "linux")("where no directory can be made: BACKEND, and the process goes on", () => {
  const program = `
    import { open } from ${JSON.stringify(new URL("../../../src/index.ts", import.meta.url))};
    const store = await open("sqlite:/proc/none/agent.db");
    await store.thread("t").put({ state: {} }).catch(({ code, committed }) => console.log(code, committed));`;
  // A process that never returns is ended, which fails the test.
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", program], { timeout: 60_000 });
  expect(told.toString().trim()).toBe("BACKEND false");
});

describe("a full disk", () => {
  test("SQLite's own limit: BACKEND, what was there reads, and the next commit works once there is room", async () => {
    const node = nodeDriver() as Driver;
    const limited: Driver = {
      ...node,
      open(file, options) {
        const connection = node.open(file, options);
        connection.exec("PRAGMA max_page_count = 100");
        return connection;
      },
    };
    const backend = await sqlite(path("agent.db"), { driver: limited });
    const { item, error } = await fillUp(backend);
    expect(error).toMatchObject({ code: "BACKEND", committed: false, cause: expect.anything() });
    await expectRoom(backend, item);
    await backend.commit([{ deletes: [tail(1), tail(2)] }]);
    await put(backend, item, large);
    expect(await get(backend, item)).toBe(large);
    await backend.close();
  });

  const root = process.platform === "linux" && process.getuid?.() === 0;
  test.skipIf(!root)("a file system without room (needs root: it mounts a small one)", async () => {
    const mounted = path("small");
    mkdirSync(mounted);
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "none", mounted]);
    try {
      const backend = await sqlite(join(mounted, "agent.db"));
      await put(backend, 0, "t1........0");
      writeFileSync(join(mounted, "ballast"), Buffer.alloc(1_000_000));
      const { item, error } = await fillUp(backend);
      expect(error).toMatchObject({ code: "BACKEND", committed: false, cause: expect.anything() });
      await expectRoom(backend, item);
      const again = backend.commit([{ inserts: [{ key: tail(item), value: large }] }]);
      await expect(again).rejects.toMatchObject({ code: "BACKEND", committed: false });
      rmSync(join(mounted, "ballast"));
      await put(backend, item, large);
      expect(await get(backend, item)).toBe(large);
      expect(await backend.verify()).toEqual([]);
      await backend.close();
      const reopened = await sqlite(join(mounted, "agent.db"));
      expect(await get(reopened, item)).toBe(large);
      await reopened.close();
    } finally {
      execFileSync("/bin/umount", [mounted]);
    }
  });
});

describe("compact", () => {
  /** Whether any file of the store still holds the text. */
  function onDisk(text: string): boolean {
    return readdirSync(path()).some((name) => readFileSync(path(name)).includes(text));
  }

  test("compact leaves no deleted or overwritten value in any file, and gives room back", async () => {
    let backend = await sqlite(path("agent.db"));
    const secret = (index: number): string => `secret-${index}-${"s".repeat(index * 97)}-end`;
    for (let item = 0; item < 200; item++) await put(backend, item, `t1........"${secret(item)}"`);
    await put(backend, 1000, `t1........"overwritten secret"`);
    await put(backend, 1000, `t1........"kept"`);
    const write = { table: "write", lineage: 1, group: 1, item: 5, part: 5 } as const;
    const directory = { table: "directory", id: "secret thread" } as const;
    for (const key of [write, directory])
      await backend.commit([{ puts: [{ key, value: `t1........"secret write"` }] }]);
    // From the log into the file itself.
    await backend.close();
    backend = await sqlite(path("agent.db"));
    await backend.commit([{ deletes: [{ table: "tail", lineage: 1, group: 1, to: 199 }, write, directory] }]);
    expect(onDisk("secret")).toBe(true);
    const before = (await backend.size()).total as number;
    await backend.compact();
    expect(onDisk("secret")).toBe(false);
    expect((await backend.size()).total).toBeLessThan(before / 10);
    expect(await get(backend, 1000)).toBe(`t1........"kept"`);
    expect(await backend.verify()).toEqual([]);
    await backend.close();
    expect(onDisk("secret")).toBe(false);
  });

  test("compact leaves no deleted value when another handle is open and reads", async () => {
    const backend = await sqlite(path("agent.db"));
    const other = await sqlite(path("agent.db"));
    await put(backend, 1, `t1........"secret"`);
    expect(await get(other, 1)).toBe(`t1........"secret"`);
    await other.commit([{ deletes: [tail(1)] }]);
    await backend.compact();
    expect(onDisk("secret")).toBe(false);
    expect(await get(other, 1)).toBeUndefined();
    await Promise.all([backend.close(), other.close()]);
  });
});

describe("damage", () => {
  test("verify says in words what is wrong, and a damaged read is CORRUPT", async () => {
    const backend = await sqlite(path("agent.db"));
    for (let item = 0; item < 100; item++) await put(backend, item, large);
    await backend.close();
    const file = openSync(path("agent.db"), "r+");
    const { size } = statSync(path("agent.db"));
    for (let page = 12; page * 4096 < size; page++) writeSync(file, Buffer.alloc(200, 0x5a), 0, 200, page * 4096);
    closeSync(file);
    const damaged = await sqlite(path("agent.db"));
    const faults = await damaged.verify();
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.every((fault) => fault.length > 10)).toBe(true);
    const scan = damaged.read([{ scan: { table: "tail", lineage: 1, group: 1 } }]);
    await expect(scan).rejects.toMatchObject({ code: "CORRUPT", cause: expect.anything() });
    await damaged.close();
  });

  test("a file cut short is CORRUPT", async () => {
    const backend = await sqlite(path("agent.db"));
    for (let item = 0; item < 100; item++) await put(backend, item, large);
    await backend.close();
    writeFileSync(path("agent.db"), readFileSync(path("agent.db")).subarray(0, 100_000));
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "CORRUPT", cause: expect.anything() });
  });
});
