import { join } from "node:path";
import { expect, test } from "vitest";
import { careFacts } from "../../../src/display/care.ts";
import { open } from "../../../src/index.ts";
import { sharedMemory } from "../../../src/testing/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";

const unfinished = /restore .* has not ended/;

/** Writes a backup of three threads. */
async function backupOfThree(): Promise<string> {
  const file = join(folderOfTest(), "whole.bundle");
  await using store = await open("memory:");
  for (const id of ["a", "b", "c"]) await store.thread(id).put({ state: { id } });
  await store.backup(file);
  return file;
}

test("verify and stats report a restore that was stopped, until one is completed", async () => {
  const file = await backupOfThree();
  const place = sharedMemory();
  const store = await open(place);
  const stop = new AbortController();
  const progress = (): void => stop.abort(new Error("enough"));
  await expect(store.restore(file, { progress, signal: stop.signal })).rejects.toThrow("enough");

  // Another program that opens the store is told as well.
  const other = await open(place);
  expect((await other.verify()).faults).toEqual([
    { thread: "", checkpoint: null, message: expect.stringMatching(unfinished) },
  ]);
  for (const call of ["stats", "measure"] as const) expect((await other[call]()).restoring).toEqual(expect.any(Number));
  // So the command line and the screen say it.
  const facts = careFacts(await other.stats(), Date.now(), String);
  expect(facts).toContainEqual(["restore", "begun just now and not ended"]);

  await other.restore(file);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  for (const call of ["stats", "measure"] as const) expect(await store[call]()).not.toHaveProperty("restoring");
  expect(await store.thread("c").count()).toBe(1);
});

test("a backup is not taken to go on from one of another store that stands at the same place", async () => {
  const folder = folderOfTest();
  const path = (name: string): string => join(folder, `${name}.bundle`);
  const cursors: string[] = [];
  for (const name of ["a", "b"]) {
    await using store = await open("memory:");
    // Deleted threads leave nothing that would tell the two logs apart.
    await store.thread(name).put({ state: { name } });
    await store.thread(name).delete();
    const { cursor } = await store.backup(path(`${name}1`));
    cursors.push(cursor);
    await store.thread("shared").put({ state: { name } });
    await store.backup(path(`${name}2`), { since: cursor });
  }
  const [first, second] = cursors.map((cursor) => cursor.split(".")[0]);
  expect(first).toBe(second);
  const target = await open<{ name: string }>("memory:");
  await expect(target.restore([path("a1"), path("b2")])).rejects.toThrow(expect.objectContaining({ code: "CONFLICT" }));
  await target.restore([path("b1"), path("b2")]);
  expect((await target.thread("shared").latest())?.state).toEqual({ name: "b" });
});

test("a restore that meets a leased thread has not ended, and one that is refused before it writes changes nothing", async () => {
  const file = await backupOfThree();
  const store = await open("memory:");
  const lease = await store.thread("b").acquire();
  await expect(store.restore(file)).rejects.toThrow(expect.objectContaining({ code: "BUSY" }));
  expect((await store.verify()).faults[0]?.message).toMatch(unfinished);
  await lease.release();
  await store.restore(file);
  expect((await store.verify()).ok).toBe(true);
  await expect(store.restore(join(folderOfTest(), "none.bundle"))).rejects.toThrow(
    expect.objectContaining({ code: "NOT_FOUND" }),
  );
  expect((await store.verify()).ok).toBe(true);
});
