import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { collect, idsOf } from "../../support/collect.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { onEveryBackend } from "./stores.ts";

onEveryBackend("simple-agents", ({ fresh, again }) => {
  test("simple-agents 1: a run's checkpoint reads back equal, next as activations; deleted, it is gone", async () => {
    const store = await fresh();
    const thread = store.thread("run-1");
    const state = { outputs: { first: "x" }, request: { text: "é", tools: ["a"] } };
    await thread.put({ run: "run-1", workflow: "w", step: 3, next: ["tool"], state });
    for (const reader of [store, await again()]) {
      const read = await reader.thread("run-1").latest();
      expect([read?.run, read?.workflow, read?.step, read?.state]).toEqual(["run-1", "w", 3, state]);
      expect(read?.next).toEqual([{ node: "tool" }]);
    }
    await thread.delete();
    expect(await thread.latest()).toBeUndefined();
  });

  test("simple-agents 3: deleting what is not there is fine", async () => {
    await (await fresh()).thread("nobody").delete();
  });

  test("simple-agents 4: runs are independent, and a second put wins", async () => {
    const store = await fresh();
    await store.thread("r1").put({ id: "only", run: "r1", state: { n: 1 } });
    await store.thread("r2").put({ id: "only", run: "r2", state: { n: 2 } });
    await store.thread("r1").put({ id: "only", run: "r1", state: { n: 3 } });
    expect((await store.thread("r1").latest())?.state).toEqual({ n: 3 });
    expect((await store.thread("r2").latest())?.state).toEqual({ n: 2 });
    expect((await collect(store.threads())).map(({ checkpoints }) => checkpoints)).toEqual([1, 1]);
  });
});

/** Backends that live in a file or directory, by the url of a path. */
const onDisk: readonly { readonly name: string; url(path: string): string }[] = [
  { name: "sqlite", url: (path) => `sqlite:${join(path, "store.db")}` },
];

describe.each(onDisk)("simple-agents on $name", ({ url }) => {
  test("simple-agents 2: reading from a directory that does not exist makes nothing; a put makes it, nested", async () => {
    const around = folderOfTest();
    const path = join(around, "not", "there", "yet");
    const store = await open(url(path));
    const thread = store.thread("t");
    expect(await thread.latest()).toBeUndefined();
    expect(await idsOf(thread.history())).toEqual([]);
    expect(await collect(store.threads())).toEqual([]);
    expect((await store.stats()).threads).toBe(0);
    expect((await store.verify()).ok).toBe(true);
    await thread.delete();
    await expect(thread.put({ state: { f: () => 1 } })).rejects.toMatchObject({ code: "SERIALIZE" });
    await expect(thread.put({ state: {} }, { parent: "nope" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await readdir(around)).toEqual([]);
    await thread.put({ state: { n: 1 } });
    expect((await thread.latest())?.state).toEqual({ n: 1 });
    await store.close();
    const reopened = await open(url(path));
    expect((await reopened.thread("t").latest())?.state).toEqual({ n: 1 });
    await reopened.close();
  });

  test("simple-agents 7: where the directory is a file, a put is BACKEND with the cause", async () => {
    const around = folderOfTest();
    await writeFile(join(around, "file"), "not a directory");
    const store = await open(url(join(around, "file", "below")));
    await expect(store.thread("t").put({ state: {} })).rejects.toMatchObject({
      code: "BACKEND",
      cause: expect.anything(),
    });
    await store.close();
    expect(await readdir(around)).toEqual(["file"]);
  });

  test("simple-agents 7: on a full disk a put is BACKEND with the cause, and what was there still reads", async (context) => {
    const around = folderOfTest();
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", around]);
    if (mount.status !== 0) context.skip("a disk that fills up needs the right to mount one: run as root");
    const opened: { close(): Promise<void> }[] = [];
    try {
      const store = await open<Record<string, unknown>>(url(join(around, "store")));
      opened.push(store);
      const thread = store.thread("t");
      await thread.put({ id: "first", state: { n: 1 } });
      let failure: unknown;
      let last = "first";
      for (let n = 0; n < 40 && failure === undefined; n++) {
        const state = { n, big: randomBytes(20_000).toString("hex") };
        await thread.put({ id: `c${n}`, state }).then(
          ({ id }) => {
            last = id;
          },
          (error: unknown) => {
            failure = error;
          },
        );
      }
      expect(failure).toMatchObject({ code: "BACKEND", cause: expect.anything() });
      expect((await thread.get("first"))?.state).toEqual({ n: 1 });
      expect((await thread.latest())?.id).toBe(last);
      await store.close();
      const reopened = await open(url(join(around, "store")));
      opened.push(reopened);
      expect((await reopened.thread("t").latest())?.id).toBe(last);
      expect((await reopened.verify()).faults).toEqual([]);
    } finally {
      for (const store of opened) await store.close();
      spawnSync("umount", [around]);
    }
  });

  test("simple-agents 7: in a read-only directory what is there reads, and a put is refused with the cause", async (context) => {
    if (process.getuid?.() === 0 && !canDropRights()) context.skip("root may write everywhere: run as another user");
    const around = folderOfTest();
    const path = join(around, "store");
    const store = await open(url(path));
    await store.thread("t").put({ state: { n: 1 } });
    await store.close();
    const script = new URL("./read-only.ts", import.meta.url).pathname;
    await mkdir(path, { recursive: true });
    const files = (await readdir(path)).map((file) => join(path, file));
    for (const file of files) await chmod(file, 0o444);
    await chmod(path, 0o555);
    await chmod(around, 0o755);
    const child = spawnSync(process.execPath, [script, url(path)], {
      encoding: "utf8",
      ...(process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}),
    });
    await chmod(path, 0o755);
    expect(child.stderr).toBe("");
    const told = JSON.parse(child.stdout) as { state: unknown; code: string; cause: boolean; after: unknown };
    expect(told.state).toEqual({ n: 1 });
    expect(["READ_ONLY", "BACKEND"]).toContain(told.code);
    expect(told.after).toEqual({ n: 1 });
  });
});

test("simple-agents 8: on sqlite, cut off at any byte of a put, the earlier checkpoint still reads", async () => {
  const around = folderOfTest();
  const path = join(around, "store.db");
  const store = await open(`sqlite:${path}`);
  const thread = store.thread("t");
  await thread.put({ id: "first", state: { n: 1, text: "x".repeat(3000) } });
  const before = (await stat(`${path}-wal`)).size;
  await thread.put({ id: "second", state: { n: 2, text: "y".repeat(3000) } });
  const database = await readFile(path);
  const log = await readFile(`${path}-wal`);
  await store.close();
  expect(log.length).toBeGreaterThan(before);
  const seen = new Set<string | undefined>();
  // Every byte near the ends of what the put wrote, and a scattering of all between.
  const lengths = Array.from({ length: log.length - before + 1 }, (_, index) => before + index);
  const cuts = lengths.filter((cut) => cut - before < 30 || log.length - cut < 30 || cut % 101 === 0);
  for (const cut of cuts) {
    const crashed = join(around, "crashed.db");
    await writeFile(crashed, database);
    await writeFile(`${crashed}-wal`, log.subarray(0, cut));
    await rm(`${crashed}-shm`, { force: true });
    const reopened = await open<Record<string, unknown>>(`sqlite:${crashed}`);
    expect((await reopened.thread("t").get("first"))?.state).toEqual({ n: 1, text: "x".repeat(3000) });
    const latest = await reopened.thread("t").latest();
    seen.add(latest?.id);
    expect(latest?.state.n).toBe(latest?.id === "second" ? 2 : 1);
    expect((await reopened.verify()).faults).toEqual([]);
    await reopened.close();
  }
  expect([...seen].sort()).toEqual(["first", "second"]);
});

/** Whether a child can be started as another user, as root may outside of some containers. */
function canDropRights(): boolean {
  return spawnSync(process.execPath, ["-e", "0"], { uid: 65534, gid: 65534 }).status === 0;
}
