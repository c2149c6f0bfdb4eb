import { channel } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Backend, Table } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import type { StoreOptions } from "../../../src/model/interface/store-options.ts";
import { idsOf } from "../../support/collect.ts";
import { damage, recordsOf } from "../../support/damaged-records.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

const day = 24 * 60 * 60 * 1000;
const then = Date.UTC(2026, 0, 1);

/** Opens a store anew, so that nothing is remembered of it, some days after it was filled. */
function reopened(backend: Backend, options: StoreOptions = {}, days = 40) {
  return open(sharedBackend(backend), { clock: () => then + days * day, ...options });
}

/** Makes threads with a write that waits for its checkpoint: a compaction drops it after a day. */
async function filled(ids: readonly string[]): Promise<Backend> {
  const backend = memory();
  const store = await reopened(backend, { packRows: 4 }, 0);
  for (const id of ids) {
    for (let n = 0; n < 10; n += 1) await store.thread(id).put({ state: { n, id }, workflow: "w" });
    await store.thread(id).putWrites("never", { task: "t", writes: [{ channel: "c", value: id }] });
  }
  // Packs are sealed beside the puts.
  await store.close();
  return backend;
}

async function everything(backend: Backend, thread: string): Promise<unknown> {
  const names = ["meta", "tail", "mark", "rows", "net", "steps", "id", "head", "write", "value", "mail"] as const;
  return Promise.all(names.map((table) => recordsOf(backend, thread, table)));
}

test("a compaction leaves damaged threads as they are, compacts all others, and then names the damaged ones", async () => {
  for (const table of ["directory", "meta", "tail", "rows", "write"] as const satisfies (Table | "directory")[]) {
    const backend = await filled(["a", "b", "c", "d"]);
    for (const id of ["b", "c"]) await damage(backend, id, table);
    const before = table === "directory" ? [] : await Promise.all(["b", "c"].map((id) => everything(backend, id)));
    const told: unknown[] = [];
    const listen = (message: unknown): void => void told.push(message);
    channel("threadmark:sweep").subscribe(listen);
    const error: unknown = await (await reopened(backend)).compact().catch((fault: unknown) => fault);
    channel("threadmark:sweep").unsubscribe(listen);
    expect(error, table).toMatchObject({ code: "CORRUPT", thread: "b", threads: ["b", "c"] });
    expect(String(error), table).toContain(
      'Passed over 2 damaged threads and what shares their history: "b", "c". They are as they were, and all others are compacted. Run verify()',
    );
    expect(told, table).toEqual([{ damaged: 2 }]);
    for (const id of ["a", "d"]) expect(await recordsOf(backend, id, "write"), `${table} ${id}`).toEqual([]);
    if (table === "directory") continue;
    expect(await Promise.all(["b", "c"].map((id) => everything(backend, id))), table).toEqual(before);
  }
});

test("the error of a compaction names the damaged fork of a sound thread, and a fork whose deleted source is damaged", async () => {
  const backend = await filled(["a", "b", "c"]);
  const store = await reopened(backend, {}, 0);
  await store.thread("a").fork({ into: "a-fork", edits: { n: -1 } });
  await store.thread("b").fork({ into: "b-fork" });
  await damage(backend, "a-fork");
  await damage(backend, "b");
  await store.thread("b").delete();
  await expect((await reopened(backend)).compact()).rejects.toMatchObject({ threads: ["a-fork", "b-fork"] });
});

test("the error of a compaction with many damaged threads names a few, says how many there are, and has them all", async () => {
  const ids = Array.from({ length: 7 }, (_, number) => `t${number}`);
  const backend = await filled(["sound", ...ids]);
  for (const id of ids) await damage(backend, id);
  const error: unknown = await (await reopened(backend)).compact().catch((fault: unknown) => fault);
  expect(error).toMatchObject({ threads: ids });
  expect(String(error)).toContain(
    'Passed over 7 damaged threads and what shares their history: "t0", "t1", "t2", "t3", "t4" and others. ',
  );
});

test("a compaction keeps the large values of a damaged thread, and collects those of others", async () => {
  const backend = memory();
  const store = await reopened(backend, { largeValues: { from: 100 } }, 0);
  for (const id of ["a", "b"]) {
    for (let n = 0; n < 3; n += 1) await store.thread(id).put({ state: { text: `${n}`.repeat(200) } });
    await store.thread(id).fork({ into: `${id}-fork` });
    await store.thread(id).delete();
    await store.thread(`${id}-fork`).prune({ keepLast: 1 });
  }
  await damage(backend, "b-fork", "meta");
  const values = async (id: string): Promise<number> => (await recordsOf(backend, id, "value")).length;
  const before = [await values("a-fork"), await values("b-fork")];
  await expect((await reopened(backend)).compact()).rejects.toMatchObject({ threads: ["b-fork"] });
  expect(await values("a-fork")).toBeLessThan(before[0] as number);
  expect(await values("b-fork")).toBe(before[1]);
});

test("a sweep leaves damaged threads alone, deletes all others that go, and tells how many are damaged", async () => {
  for (const table of ["directory", "meta", "tail"] as const) {
    const backend = await filled(["a", "b", "c", "d"]);
    for (const id of ["b", "c"]) await damage(backend, id, table);
    const retention = { threads: { idle: "30d" }, checkpoints: { keepLast: 2 } } as const;
    const store = await reopened(backend, { retention });
    const told: unknown[] = [];
    const listen = (message: unknown): void => void told.push(message);
    channel("threadmark:sweep").subscribe(listen);
    const would = await store.sweep({ dryRun: true });
    const swept = await store.sweep();
    channel("threadmark:sweep").unsubscribe(listen);
    // Two rules name each damaged thread, which counts once.
    expect([swept.threads, swept.damaged, would.threads, would.damaged], table).toEqual([2, 2, 2, 2]);
    expect(told.at(-1), table).toEqual({ threads: 2, deleted: 0, bytesReclaimed: swept.bytes, damaged: 2 });
    expect((await store.stats()).sweep, table).toMatchObject({ threads: 2, damaged: 2 });
    for (const id of ["a", "d"]) expect(await recordsOf(backend, id, "directory"), `${table} ${id}`).toEqual([]);
  }
});

test("an index is made anew of all threads but the damaged ones, which are named and keep their entries", async () => {
  const backend = await filled(["a", "b", "c"]);
  await damage(backend, "b", "rows");
  const store = await reopened(backend);
  await expect(store.reindex()).rejects.toMatchObject({
    code: "CORRUPT",
    threads: ["b"],
    message: expect.stringContaining("all others are indexed") as string,
  });
  expect((await store.counts()).threads).toBe(3);
  expect(await idsOf(store.threads({ order: "updated", workflow: "w" }))).toHaveLength(3);
});

test("an erasure in a lineage with a damaged record changes nothing, and names the thread", async () => {
  for (const [table, damaged] of [
    ["write", "a"],
    ["meta", "fork"],
  ] as const) {
    const backend = await filled(["a"]);
    const store = await reopened(backend);
    await store.thread("a").fork({ into: "fork" });
    await damage(backend, damaged, table);
    const before = await everything(backend, "a");
    await expect((await reopened(backend)).thread("a").erase(["id"], { forks: true })).rejects.toMatchObject({
      code: "CORRUPT",
      thread: "a",
      message: expect.stringContaining('Thread "a": nothing was erased') as string,
    });
    expect(await everything(backend, "a"), table).toEqual(before);
  }
});
