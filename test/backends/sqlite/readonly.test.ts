import { chmodSync, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { Child } from "../../support/child-process.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { get, put, tail } from "../support/tail-records.ts";

const path = folderForEach();
const asNobodyScript = new URL("./support/as-nobody.ts", import.meta.url);
const value = "t1........1";

async function store(...names: string[]): Promise<void> {
  const backend = await sqlite(path(...names));
  await put(backend, 1, value);
  await backend.close();
}

/** Returns what a user without the right to write reads, and the error of that user's commit. */
async function asNobody(...names: string[]): Promise<unknown> {
  const child = new Child(asNobodyScript, path(...names));
  return JSON.parse(await child.line());
}

describe("the option readOnly", () => {
  test("a store opened with readOnly reads, and gives READ_ONLY for a commit and for compact", async () => {
    await store("agent.db");
    const backend = await sqlite(path("agent.db"), { readOnly: true });
    expect(await get(backend, 1)).toBe(value);
    expect(await backend.verify()).toEqual([]);
    const commit = backend.commit([{ puts: [{ key: tail(1), value: "changed" }] }]);
    await expect(commit).rejects.toMatchObject({ code: "READ_ONLY" });
    await expect(backend.compact()).rejects.toMatchObject({ code: "READ_ONLY" });
    expect(await get(backend, 1)).toBe(value);
    await backend.close();
  });

  test("a store opened with readOnly sees what others commit meanwhile", async () => {
    await store("agent.db");
    const reader = await sqlite(path("agent.db"), { readOnly: true });
    const writer = await sqlite(path("agent.db"));
    await put(writer, 2, "t1........2");
    expect(await get(reader, 2)).toBe("t1........2");
    await Promise.all([reader.close(), writer.close()]);
  });

  test("opening with readOnly creates nothing where there is no store", async () => {
    const backend = await sqlite(path("agent.db"), { readOnly: true });
    expect(await get(backend, 1)).toBeUndefined();
    await expect(backend.commit([{}])).rejects.toMatchObject({ code: "READ_ONLY" });
    await backend.close();
    expect(readdirSync(path())).toEqual([]);
  });
});

describe.skipIf(process.platform === "win32")("permission bits", () => {
  const refused = { read: value, again: value, code: "READ_ONLY" };

  test("a file that may only be read opens read-only", async () => {
    await store("agent.db");
    chmodSync(path("agent.db"), 0o444);
    chmodSync(path(), 0o777);
    expect(await asNobody("agent.db")).toMatchObject(refused);
  });

  test("a store in a directory that may only be read opens read-only", async () => {
    mkdirSync(path("closed"));
    await store("closed", "agent.db");
    chmodSync(path("closed", "agent.db"), 0o666);
    chmodSync(path("closed"), 0o555);
    expect(await asNobody("closed", "agent.db")).toMatchObject(refused);
    expect(readdirSync(path("closed"))).toEqual(["agent.db"]);
    chmodSync(path("closed"), 0o755);
  });

  test("a store in a directory that may only be read shows what a killed process left in the log", async () => {
    mkdirSync(path("closed"));
    const backend = await sqlite(path("agent.db"), { mode: 0o644 });
    await put(backend, 1, value);
    for (const name of ["agent.db", "agent.db-wal"]) copyFileSync(path(name), path("closed", name));
    await backend.close();
    chmodSync(path("closed"), 0o555);
    expect(await asNobody("closed", "agent.db")).toMatchObject(refused);
    chmodSync(path("closed"), 0o755);
  });

  test("a store that cannot be created is BACKEND with the cause", async () => {
    mkdirSync(path("closed"), { mode: 0o555 });
    const expected = { read: null, again: null, code: "BACKEND", committed: false, cause: expect.any(String) };
    expect(await asNobody("closed", "agent.db")).toMatchObject(expected);
    expect(await asNobody("closed", "nested", "agent.db")).toMatchObject(expected);
  });
});
