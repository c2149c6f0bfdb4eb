import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { betterDriver } from "../../../src/backends/sqlite/driver/better-driver.ts";
import { nodeDriver } from "../../../src/backends/sqlite/driver/node-driver.ts";
import { translate } from "../../../src/backends/sqlite/faults.ts";
import type { Driver } from "../../../src/backends/sqlite/index.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();

describe("opening", () => {
  test("nothing is created before the first commit, then the file and its directories are", async () => {
    const backend = await sqlite(path("a", "b", "agent.db"));
    expect(await get(backend, 1)).toBeUndefined();
    expect(await backend.verify()).toEqual([]);
    expect((await backend.size()).total).toBe(0);
    await backend.compact();
    expect(existsSync(path("a"))).toBe(false);
    await put(backend, 1, "t1........1");
    expect(await get(backend, 1)).toBe("t1........1");
    expect((await backend.size()).total).toBeGreaterThan(0);
    await backend.close();
  });

  test("a store made by another handle after opening is seen", async () => {
    const early = await sqlite(path("agent.db"));
    expect(await get(early, 1)).toBeUndefined();
    const writer = await sqlite(path("agent.db"));
    await put(writer, 1, "t1........1");
    expect(await get(early, 1)).toBe("t1........1");
    await put(early, 2, "t1........2");
    expect(await get(writer, 2)).toBe("t1........2");
    await Promise.all([early.close(), writer.close()]);
  });

  test("a directory that cannot be made is refused with what to do about it", async () => {
    writeFileSync(path("taken"), "a file");
    const backend = await sqlite(path("taken", "agent.db"));
    await expect(put(backend, 1, "t1........1")).rejects.toThrow(/choose another path|move it away|try again/);
    await backend.close();
    const denied = Object.assign(new Error("EACCES: permission denied, mkdir 'a'"), { code: "EACCES" });
    expect(String(translate(nodeDriver() as Driver, "a/agent.db", denied))).toContain("check who owns the directory");
  });

  test("an empty file is an empty store", async () => {
    writeFileSync(path("agent.db"), "");
    const backend = await sqlite(path("agent.db"));
    expect(await get(backend, 1)).toBeUndefined();
    await put(backend, 1, "t1........1");
    expect(await get(backend, 1)).toBe("t1........1");
    await backend.close();
  });

  test("a schema that another process creates at the moment of looking is not taken for another program's", async () => {
    writeFileSync(path("agent.db"), "");
    const other = await sqlite(path("agent.db"));
    const node = nodeDriver() as Driver;
    let meanwhile: Promise<void> | undefined;
    const looking: Driver = {
      ...node,
      open(file, options) {
        const connection = node.open(file, options);
        return {
          exec: (sql) => connection.exec(sql),
          close: () => connection.close(),
          prepare(sql) {
            if (sql.includes("sqlite_schema")) meanwhile ??= put(other, 1, "t1........1");
            return connection.prepare(sql);
          },
        };
      },
    };
    const backend = await sqlite(path("agent.db"), { driver: looking });
    await meanwhile;
    expect(await get(backend, 1)).toBe("t1........1");
    await Promise.all([backend.close(), other.close()]);
  });

  test("after close the file stands alone", async () => {
    const backend = await sqlite(path("agent.db"));
    await put(backend, 1, "t1........1");
    await backend.close();
    expect(readdirSync(path())).toEqual(["agent.db"]);
  });

  test("a relative path with characters that mean something in a URI is an ordinary name", async () => {
    const backend = await sqlite(path("file:a?mode=memory&b#c%20.db"));
    await put(backend, 1, "t1........1");
    await backend.close();
    expect(readdirSync(path())).toEqual(["file:a?mode=memory&b#c%20.db"]);
  });

  test("an empty path is a misuse", async () => {
    await expect(sqlite("")).rejects.toBeInstanceOf(TypeError);
  });
});

describe("files that are not ours to use", () => {
  test.each([
    ["a few bytes", "hello"],
    ["a page of text", "no database ".repeat(1000)],
    ["bytes that begin like a database", `SQLite format 3\0${"\u0007".repeat(5000)}`],
  ])("%s is CORRUPT", async (_, content) => {
    writeFileSync(path("agent.db"), content);
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "CORRUPT", cause: expect.anything() });
  });

  test("a schema newer than ours is VERSION", async () => {
    const backend = await sqlite(path("agent.db"));
    await put(backend, 1, "t1........1");
    await backend.close();
    const database = new DatabaseSync(path("agent.db"));
    database.exec("PRAGMA user_version = 1000");
    database.close();
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "VERSION" });
  });

  test.each([
    ["application id", "PRAGMA application_id = 1"],
    ["version", "PRAGMA user_version = 1"],
    ["tables", "CREATE TABLE notes (text)"],
  ])("a database with another program's %s is VERSION, and is left as it was", async (_, sql) => {
    const database = new DatabaseSync(path("agent.db"));
    database.exec(sql);
    database.close();
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "VERSION" });
    expect(readdirSync(path())).toEqual(["agent.db"]);
  });

  test("a directory where the file should be is BACKEND", async () => {
    mkdirSync(path("agent.db"));
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "BACKEND", cause: expect.anything() });
  });

  test("a file where the directory should be reads as empty, and a commit is BACKEND", async () => {
    writeFileSync(path("data"), "a file");
    const backend = await sqlite(path("data", "agent.db"));
    expect(await get(backend, 1)).toBeUndefined();
    const commit = backend.commit([{ puts: [{ key: tail(1), value: "t1........1" }] }]);
    await expect(commit).rejects.toMatchObject({ code: "BACKEND", committed: false, cause: expect.anything() });
    await backend.close();
  });
});

describe("drivers", () => {
  test("without any driver the error says what to install", async () => {
    const spy = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    try {
      const opening = sqlite(path("agent.db"));
      await expect(opening).rejects.toMatchObject({ code: "UNSUPPORTED", cause: expect.anything() });
      await expect(opening).rejects.toThrow("npm install libsql");
    } finally {
      spy.mockRestore();
    }
  });

  test("better-sqlite3's errors are told apart by their names", () => {
    const { fault } = betterDriver(Object as never);
    const of = (code: string): string => fault(Object.assign(new Error(code), { code }));
    expect(of("SQLITE_BUSY")).toBe("busy");
    expect(of("SQLITE_BUSY_SNAPSHOT")).toBe("busy");
    expect(of("SQLITE_READONLY_DIRECTORY")).toBe("readonly");
    expect(of("SQLITE_IOERR_WRITE")).toBe("io");
    expect(of("SQLITE_IOERR_FSYNC")).toBe("sync");
    expect(of("SQLITE_FULL")).toBe("full");
    expect(of("SQLITE_CORRUPT_INDEX")).toBe("corrupt");
    expect(of("SQLITE_NOTADB")).toBe("not-a-database");
    expect(of("SQLITE_CANTOPEN_ISDIR")).toBe("cannot-open");
    expect(of("ENOENT")).toBe("other");
    expect(fault(undefined)).toBe("other");
  });
});
