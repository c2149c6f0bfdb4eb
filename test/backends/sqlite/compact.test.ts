import { readFileSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Thread } from "../../../src/api/thread.ts";
import { sqlite } from "../../../src/backends/sqlite/index.ts";
import { Child } from "../../support/child-process.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

type State = { readonly text: string };

const path = folderForEach();
const script = new URL("./support/reader.ts", import.meta.url);
const secret = "a text that was deleted";

/** A process that holds a read transaction. */
async function reader(file: string): Promise<Child> {
  const child = new Child(script, file);
  expect(await child.line()).toBe("reading");
  return child;
}

async function ended(child: Child): Promise<void> {
  child.go();
  expect(await child.end()).toBe(0);
}

/** Opens a store with a deleted checkpoint, whose text is still in the file. */
async function withDeleted(
  file: string,
  busyTimeout: number,
): Promise<{ readonly store: Store<State>; readonly thread: Thread<State> }> {
  const store = await open<State>(await sqlite(file, { busyTimeout, fsync: "normal" }));
  const thread = store.thread("t");
  const { id } = await thread.put({ state: { text: secret } });
  await thread.put({ state: { text: "another" } });
  await thread.deleteCheckpoints([id]);
  return { store, thread };
}

function traces(file: string): number {
  const holds = (name: string): boolean => readFileSync(name).includes(secret);
  return [file, `${file}-wal`].filter(holds).length;
}

test("puts are committed while a compaction waits for another process that reads", async () => {
  const file = path("agent.db");
  const { store, thread } = await withDeleted(file, 600_000);
  const other = await reader(file);
  let compacted = false;
  const compacting = store.compact().then(() => {
    compacted = true;
  });
  for (let n = 0; n < 100; n += 1) {
    await thread.put({ state: { text: `${n}` } });
    await wait(2);
  }
  expect(compacted).toBe(false);
  await ended(other);
  await compacting;
  expect(statSync(`${file}-wal`).size).toBe(0);
  expect(traces(file)).toBe(0);
  expect(await thread.count()).toBe(101);
  await store.close();
});

test("a compaction that gives up because another process keeps reading says what it has done, and can be run again", async () => {
  const file = path("agent.db");
  const { store, thread } = await withDeleted(file, 200);
  const other = await reader(file);
  const error = await store.compact().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "BUSY" });
  expect((error as Error).message).toMatch(/reading/);
  expect((error as Error).message).toMatch(/Run compact\(\) again/);
  expect((error as Error).message).not.toMatch(/Nothing was written/);
  expect(await thread.count()).toBe(1);
  await thread.put({ state: { text: "afterwards" } });
  await ended(other);
  await store.compact();
  expect(traces(file)).toBe(0);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

test("compactions that give up do not make the log larger each time", async () => {
  const file = path("agent.db");
  const { store, thread } = await withDeleted(file, 100);
  await thread.put({ state: { text: "x".repeat(1_000_000) } });
  const other = await reader(file);
  await expect(store.compact()).rejects.toMatchObject({ code: "BUSY" });
  const { size } = statSync(`${file}-wal`);
  for (let n = 0; n < 3; n += 1) await expect(store.compact()).rejects.toMatchObject({ code: "BUSY" });
  expect(statSync(`${file}-wal`).size).toBe(size);
  await ended(other);
  await store.close();
});
