import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Backend } from "../../../src/backend.ts";
import { nodeDriver } from "../../../src/backends/sqlite/driver/node-driver.ts";
import type { Driver } from "../../../src/backends/sqlite/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();
const first = "t1........1";
const second = "t1........2";

async function database(file: string, value: string): Promise<void> {
  const backend = await sqlite(file);
  await put(backend, 1, value);
  await backend.close();
}

async function openWith(file: string, value: string): Promise<Backend> {
  const backend = await sqlite(file);
  await put(backend, 1, value);
  return backend;
}

/** Neither reads nor commits are answered from a file that is not at the path any more; closing it is still possible. */
async function expectMoved(backend: Backend): Promise<void> {
  await expect(backend.commit([{ puts: [{ key: tail(2), value: second }] }])).rejects.toMatchObject({ code: "MOVED" });
  await expect(get(backend, 1)).rejects.toMatchObject({ code: "MOVED" });
  await expect(backend.compact()).rejects.toMatchObject({ code: "MOVED" });
  await expect(backend.verify()).rejects.toMatchObject({ code: "MOVED" });
  await expect(backend.size()).rejects.toMatchObject({ code: "MOVED" });
  await backend.close();
}

describe("a database that is open", () => {
  const changes: readonly (readonly [string, () => void])[] = [
    ["is deleted", () => rmSync(path("data", "agent.db"))],
    ["is deleted with its log", () => rmSync(path("data"), { recursive: true })],
    ["is renamed", () => renameSync(path("data", "agent.db"), path("data", "old.db"))],
    ["is moved to another directory", () => renameSync(path("data", "agent.db"), path("old.db"))],
    ["is replaced by another database", () => renameSync(path("other.db"), path("data", "agent.db"))],
    ["is replaced by a directory", replaceByDirectory],
    ["loses its log", () => rmSync(path("data", "agent.db-wal"))],
    ["has its log replaced", () => replace(path("data", "agent.db-wal"))],
    ["loses its shared memory", () => rmSync(path("data", "agent.db-shm"))],
    ["has its shared memory replaced", () => replace(path("data", "agent.db-shm"))],
    ["is in a directory that is renamed", () => renameSync(path("data"), path("data-old"))],
    ["is in a directory that is replaced", replaceDirectory],
    ["is in a directory that becomes a file", replaceDirectoryByFile],
  ];

  function replaceByDirectory(): void {
    rmSync(path("data", "agent.db"));
    mkdirSync(path("data", "agent.db"));
  }

  function replaceDirectory(): void {
    renameSync(path("data"), path("old"));
    mkdirSync(path("data"));
  }

  function replaceDirectoryByFile(): void {
    renameSync(path("data"), path("old"));
    writeFileSync(path("data"), "");
  }

  function replace(file: string): void {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  }

  test.each(changes)("a database that %s while it is open is MOVED for commits and reads", async (_, change) => {
    await database(path("other.db"), second);
    const backend = await openWith(path("data", "agent.db"), first);
    change();
    await expectMoved(backend);
  });

  test.each(changes)("a database that %s after a while without use is MOVED for reads", async (_, change) => {
    await database(path("other.db"), second);
    const backend = await openWith(path("data", "agent.db"), first);
    await delay(100);
    expect(await get(backend, 1)).toBe(first);
    change();
    await expect(get(backend, 1)).rejects.toMatchObject({ code: "MOVED" });
    await backend.close();
  });

  test.each(changes)("a database that %s while a commit is under way does not acknowledge it", async (_, change) => {
    await database(path("other.db"), second);
    const node = nodeDriver() as Driver;
    let isArmed = false;
    const moving: Driver = {
      ...node,
      open(file, options) {
        const connection = node.open(file, options);
        return {
          exec: (sql) => connection.exec(sql),
          close: () => connection.close(),
          prepare(sql) {
            const statement = connection.prepare(sql);
            return {
              get: (...values) => statement.get(...values),
              all: (...values) => statement.all(...values),
              run(...values) {
                if (isArmed) change();
                isArmed = false;
                return statement.run(...values);
              },
            };
          },
        };
      },
    };
    const backend = await sqlite(path("data", "agent.db"), { driver: moving });
    await put(backend, 1, first);
    await delay(100);
    await put(backend, 1, first);
    isArmed = true;
    const commit = backend.commit([{ puts: [{ key: tail(2), value: second }] }]);
    await expect(commit).rejects.toMatchObject({ code: "MOVED", committed: "unknown" });
    expect(isArmed).toBe(false);
    await backend.close();
  });

  test("a database below a directory that is renamed is soon MOVED, and whole where it is now", async () => {
    const backend = await openWith(path("above", "data", "agent.db"), first);
    renameSync(path("above"), path("elsewhere"));
    await delay(100);
    await expectMoved(backend);
    const found = await sqlite(path("elsewhere", "data", "agent.db"));
    expect(await get(found, 1)).toBe(first);
    expect(await get(found, 2)).toBeUndefined();
    await found.close();
  });

  test("a database that is put back after it was found to be moved stays MOVED until it is opened again", async () => {
    const backend = await openWith(path("agent.db"), first);
    renameSync(path("agent.db"), path("old.db"));
    await expect(get(backend, 1)).rejects.toMatchObject({ code: "MOVED" });
    renameSync(path("old.db"), path("agent.db"));
    await expectMoved(backend);
    const again = await sqlite(path("agent.db"));
    expect(await get(again, 1)).toBe(first);
    await again.close();
  });

  test("a database is not MOVED when other files of its directory come and go", async () => {
    const backend = await openWith(path("agent.db"), first);
    for (let item = 2; item < 50; item++) {
      writeFileSync(path("other"), "");
      await put(backend, item, second);
      rmSync(path("other"));
      expect(await get(backend, item)).toBe(second);
    }
    await backend.close();
  });

  test("a database is not MOVED when others open and close it, create it and compact it", async () => {
    const early = await sqlite(path("agent.db"));
    const reader = await sqlite(path("agent.db"), { readOnly: true });
    expect(await get(early, 1)).toBeUndefined();
    for (let item = 1; item < 20; item++) {
      const other = await openWith(path("agent.db"), first);
      await put(other, item, second);
      if (item % 5 === 0) await other.compact();
      await other.close();
      expect(await get(early, item)).toBe(second);
      expect(await get(reader, item)).toBe(second);
    }
    await put(early, 100, first);
    expect(await get(reader, 100)).toBe(first);
    await Promise.all([early.close(), reader.close()]);
  });
});

describe("a database behind a symbolic link", () => {
  function leadElsewhere(): void {
    rmSync(path("link.db"));
    symlinkSync(path("other.db"), path("link.db"));
  }

  test("a database behind a link is used where it is, and leaves nothing beside the link", async () => {
    mkdirSync(path("real"));
    mkdirSync(path("links"));
    await database(path("real", "agent.db"), first);
    symlinkSync(path("real", "agent.db"), path("links", "agent.db"));
    const backend = await sqlite(path("links", "agent.db"));
    await put(backend, 2, second);
    expect(readdirSync(path("links"))).toEqual(["agent.db"]);
    await backend.close();
    expect(readdirSync(path("real"))).toEqual(["agent.db"]);
  });

  test.each([
    ["leads elsewhere", leadElsewhere],
    ["is deleted", () => rmSync(path("link.db"))],
    ["leads to a file that was replaced", () => renameSync(path("other.db"), path("real", "agent.db"))],
    ["leads to a file that was deleted", () => rmSync(path("real", "agent.db"))],
  ])("a database behind a link is MOVED once the link %s", async (_, change) => {
    mkdirSync(path("real"));
    await database(path("real", "agent.db"), first);
    await database(path("other.db"), second);
    symlinkSync(path("real", "agent.db"), path("link.db"));
    const backend = await openWith(path("link.db"), first);
    await delay(100);
    await put(backend, 1, first);
    change();
    await expectMoved(backend);
  });
});

describe("what a moved database leaves behind", () => {
  test("closing a moved database neither removes the log nor writes to the file in its place", async () => {
    await database(path("backup.db"), second);
    const backend = await openWith(path("agent.db"), first);
    renameSync(path("agent.db"), path("old.db"));
    copyFileSync(path("backup.db"), path("agent.db"));
    const log = readFileSync(path("agent.db-wal"));
    await expectMoved(backend);
    expect(readFileSync(path("agent.db"))).toEqual(readFileSync(path("backup.db")));
    expect(readFileSync(path("agent.db-wal"))).toEqual(log);
    expect(existsSync(path("old.db"))).toBe(true);
  });
});
