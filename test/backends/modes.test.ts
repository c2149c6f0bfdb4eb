import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { file } from "../../src/backends/file/index.ts";
import { sqlite } from "../../src/backends/sqlite/index.ts";
import { open } from "../../src/index.ts";
import { folderForEach } from "../support/folders-of-tests.ts";
import { recordText } from "../support/texts.ts";
import { put, tail } from "./support/tail-records.ts";

const path = folderForEach();

const backends = [
  { name: "sqlite", make: sqlite, place: () => path("new", "store", "agent.db") },
  { name: "file", make: file, place: () => path("new", "store", "agent") },
] as const;

/** The permissions of everything below a directory, by name. */
function modesBelow(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const name = join(entry.parentPath, entry.name);
    found[name.slice(directory.length + 1)] = (statSync(name).mode & 0o777).toString(8);
  }
  return found;
}

function expectModes(files: string, directories: string): void {
  const modes = modesBelow(path());
  expect(Object.keys(modes).length).toBeGreaterThan(3);
  for (const [name, mode] of Object.entries(modes)) {
    expect([name, mode]).toEqual([name, statSync(path(name)).isDirectory() ? directories : files]);
  }
}

describe.each(backends)("the files of a $name store", ({ name, make, place }) => {
  let before = 0;
  beforeEach(() => {
    before = process.umask(0o022);
  });
  afterEach(() => {
    process.umask(before);
  });

  test(`${name}: all files are for their owner only, open and compacted, whatever the umask allows`, async () => {
    process.umask(0);
    const backend = await make(place());
    await put(backend, 1, recordText(1));
    expectModes("600", "700");
    await backend.commit([{ deletes: [tail(1)], puts: [{ key: tail(2), value: recordText(2) }] }]);
    await backend.compact();
    expectModes("600", "700");
    await backend.close();
  });

  test(`${name}: a mode that is asked for is given, whatever the umask takes away`, async () => {
    process.umask(0o077);
    const backend = await make(place(), { mode: 0o660 });
    await put(backend, 1, recordText(1));
    expectModes("660", "770");
    await backend.compact();
    expectModes("660", "770");
    await backend.close();
  });

  test(`${name}: files and directories that exist keep their mode`, async () => {
    const backend = await make(place());
    await put(backend, 1, recordText(1));
    await backend.close();
    const modes = modesBelow(path());
    for (const existing of Object.keys(modes)) {
      chmodSync(path(existing), statSync(path(existing)).isDirectory() ? 0o750 : 0o640);
    }
    const again = await make(place());
    await put(again, 2, recordText(2));
    await again.compact();
    await again.close();
    for (const existing of Object.keys(modes)) expect(modesBelow(path())[existing]).toMatch(/^(750|640)$/);
  });

  test.each([-1, 0o400, 0o060, 0o777, 0o100_600, 0.5, Number.NaN, "0600", null])(
    `${name}: the mode %s is a misuse, and nothing is made`,
    async (mode) => {
      await expect(make(place(), { mode: mode as number })).rejects.toBeInstanceOf(TypeError);
      await expect(open(`${name}:${place()}`, { mode: mode as number })).rejects.toBeInstanceOf(TypeError);
      expect(readdirSync(path())).toEqual([]);
    },
  );

  test(`${name}: open passes the mode on`, async () => {
    const store = await open(`${name}:${place()}`, { mode: 0o640 });
    await store.thread("t").put({ state: 1 });
    expectModes("640", "750");
    await store.close();
  });
});

test("an empty file that is there becomes a SQLite store with the mode it has", async () => {
  mkdirSync(dirname(path("agent.db")), { recursive: true });
  writeFileSync(path("agent.db"), "");
  chmodSync(path("agent.db"), 0o644);
  const backend = await sqlite(path("agent.db"));
  await put(backend, 1, recordText(1));
  expect(modesBelow(path())).toEqual({
    "agent.db": "644",
    "agent.db-owner": "644",
    "agent.db-shm": "644",
    "agent.db-wal": "644",
  });
  await backend.close();
});
