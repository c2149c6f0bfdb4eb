import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { Child } from "../../support/child-process.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put } from "../support/tail-records.ts";

const path = folderForEach();
const killedWriter = new URL("./support/killed-writer.ts", import.meta.url);
const kept = "t1........kept";
const newer = "t1........newer";

/** A database as a killed process leaves it: what it committed is in the log beside it. */
async function leaveLog(file: string): Promise<void> {
  const child = new Child(killedWriter, file, newer);
  expect(await child.line()).toBe("committed");
  await child.end();
  expect(readdirSync(path())).toContain("agent.db-wal");
}

async function makeBackup(file: string): Promise<void> {
  const backend = await sqlite(file);
  await put(backend, 1, kept);
  await backend.close();
}

async function valueIn(file: string): Promise<unknown> {
  const backend = await sqlite(file);
  try {
    return await get(backend, 1);
  } finally {
    await backend.close();
  }
}

function contents(): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(path()).map((name) => [name, readFileSync(path(name))]));
}

describe("a log beside another database than the one it was written for", () => {
  function moveAfterDeleting(): void {
    rmSync(path("agent.db"));
    renameSync(path("backup.db"), path("agent.db"));
  }

  function copyAfterDeleting(): void {
    rmSync(path("agent.db"));
    copyFileSync(path("backup.db"), path("agent.db"));
  }

  test.each([
    ["moved over it", () => renameSync(path("backup.db"), path("agent.db"))],
    ["moved to where it was", moveAfterDeleting],
    ["copied to where it was", copyAfterDeleting],
  ])("a backup that was %s after a kill is MOVED, and nothing is touched", async (_, restore) => {
    await makeBackup(path("backup.db"));
    await leaveLog(path("agent.db"));
    restore();
    const before = contents();
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "MOVED", committed: false });
    await expect(sqlite(path("agent.db"), { readOnly: true })).rejects.toMatchObject({ code: "MOVED" });
    expect(contents()).toEqual(before);
    for (const name of ["agent.db-wal", "agent.db-shm"]) rmSync(path(name), { force: true });
    expect(await valueIn(path("agent.db"))).toBe(kept);
    expect(readdirSync(path()).filter((name) => name.startsWith("agent"))).toEqual(["agent.db"]);
  });

  test("a backup of the same store, made by SQLite while it was open, is MOVED as well", async () => {
    await makeBackup(path("agent.db"));
    const backend = await sqlite(path("agent.db"));
    await put(backend, 2, newer);
    const other = new DatabaseSync(path("agent.db"));
    other.exec(`VACUUM INTO '${path("backup.db")}'`);
    other.close();
    await put(backend, 1, newer);
    renameSync(path("backup.db"), path("agent.db"));
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "MOVED" });
    await expect(get(backend, 1)).rejects.toMatchObject({ code: "MOVED" });
    await backend.close();
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "MOVED" });
    rmSync(path("agent.db-wal"));
    rmSync(path("agent.db-shm"));
    expect(await valueIn(path("agent.db"))).toBe(kept);
  });

  test("a log whose database is missing is MOVED, not deleted", async () => {
    await leaveLog(path("agent.db"));
    renameSync(path("agent.db"), path("elsewhere.db"));
    const before = contents();
    await expect(sqlite(path("agent.db"))).rejects.toMatchObject({ code: "MOVED" });
    expect(contents()).toEqual(before);
    renameSync(path("elsewhere.db"), path("agent.db"));
    expect(await valueIn(path("agent.db"))).toBe(newer);
  });

  test("a store that was opened before its database went, and never used, makes no new one beside the log", async () => {
    const early = await sqlite(path("agent.db"));
    await leaveLog(path("agent.db"));
    rmSync(path("agent.db"));
    const before = contents();
    await expect(put(early, 1, kept)).rejects.toMatchObject({ code: "MOVED" });
    await expect(get(early, 1)).rejects.toMatchObject({ code: "MOVED" });
    expect(contents()).toEqual(before);
    await early.close();
  });

  test("an owner file that is deleted, or says nothing, stands in nobody's way", async () => {
    await leaveLog(path("agent.db"));
    copyFileSync(path("agent.db"), path("same.db"));
    renameSync(path("same.db"), path("agent.db"));
    await expect(sqlite(path("agent.db"))).rejects.toThrow("agent.db-owner");
    rmSync(path("agent.db-owner"));
    expect(await valueIn(path("agent.db"))).toBe(newer);
  });
});

describe("a log beside its own database", () => {
  test("a log beside its own database is replayed after a kill, and leaves nothing behind when the store is closed", async () => {
    await leaveLog(path("agent.db"));
    expect(await valueIn(path("agent.db"))).toBe(newer);
    expect(readdirSync(path())).toEqual(["agent.db"]);
  });

  test("a log and its database are replayed where both were copied to", async () => {
    await leaveLog(path("agent.db"));
    mkdirSync(path("copy"));
    for (const name of readdirSync(path())) if (name !== "copy") copyFileSync(path(name), path("copy", name));
    expect(await valueIn(path("copy", "agent.db"))).toBe(newer);
  });

  test("a log and its database are replayed where their directory was moved to", async () => {
    mkdirSync(path("data"));
    const child = new Child(killedWriter, path("data", "agent.db"), newer);
    await child.line();
    await child.end();
    renameSync(path("data"), path("moved"));
    expect(await valueIn(path("moved", "agent.db"))).toBe(newer);
  });
});

describe("a database that VACUUM INTO wrote", () => {
  test("a database that VACUUM INTO wrote is committed to through a log again, as the one it was made from", async () => {
    await makeBackup(path("agent.db"));
    const other = new DatabaseSync(path("agent.db"));
    other.exec(`VACUUM INTO '${path("backup.db")}'`);
    other.close();
    const backend = await sqlite(path("backup.db"));
    await put(backend, 2, newer);
    expect(readdirSync(path())).toContain("backup.db-wal");
    expect(await get(backend, 1)).toBe(kept);
    await backend.close();
  });
});
