import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { nodeFileSystem } from "../../../src/backends/file/disk/node-file-system.ts";
import { file } from "../../../src/backends/file/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { recordText } from "../../support/texts.ts";
import { get, put } from "../support/tail-records.ts";

const path = folderForEach();

const contender = new URL("./support/contender.ts", import.meta.url).pathname;
const holderProcess = new URL("./support/holder-process.ts", import.meta.url).pathname;

function run(program: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

/** A process that holds the lock of `path("store")` until it is killed. */
async function holder(): Promise<ChildProcess> {
  const child = run(holderProcess, path("store"));
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return child;
}

function locks(directory = "store"): string[] {
  return readdirSync(path(directory)).filter((name) => name.startsWith("lock-"));
}

async function leaveLock(changes: Readonly<Record<string, unknown>>): Promise<void> {
  const left = { ...(await nodeFileSystem.holder()), ...changes };
  writeFileSync(path("store", "lock-00000000deadbeef.json"), JSON.stringify(left));
}

describe("the lock of the file backend", () => {
  test("the lock of the file backend is taken by the first write, not by open or read, and released by close", async () => {
    const backend = await file(path("store"));
    expect(await get(backend, 1)).toBeUndefined();
    expect(existsSync(path("store"))).toBe(false);
    await put(backend, 1, recordText(1));
    expect(locks().length).toBe(1);
    const lock = JSON.parse(readFileSync(path("store", locks()[0] as string), "utf8")) as Record<string, unknown>;
    expect(lock).toMatchObject({ pid: process.pid, boot: expect.any(String), started: expect.any(String) });
    await backend.close();
    expect(locks()).toEqual([]);
  });

  test("the lock of another live process gives BUSY naming it; reads go on, and see what it wrote", async () => {
    const child = await holder();
    const backend = await file(path("store"));
    expect(await get(backend, 1)).toBe(recordText("from the holder"));
    const write = put(backend, 2, recordText("mine"));
    await expect(write).rejects.toMatchObject({
      code: "BUSY",
      holder: expect.stringContaining(`process ${child.pid}`),
    });
    await expect(backend.compact()).rejects.toMatchObject({ code: "BUSY" });
    child.kill("SIGKILL");
    await once(child, "exit");
    await put(backend, 2, recordText("mine"));
    expect(await get(backend, 1)).toBe(recordText("from the holder"));
    expect(locks().length).toBe(1);
    await backend.close();
  });

  test("the lock of a process that was killed but not yet waited for does not count", async () => {
    // The shell never waits for the process it started last: once killed, that stays a zombie.
    const command = `"$0" "$1" "$2" & echo $!; exec sleep 60`;
    const shell = spawn("sh", ["-c", command, process.execPath, holderProcess, path("store")]);
    let output = "";
    for await (const chunk of shell.stdout) {
      output += chunk;
      if (output.includes("holding")) break;
    }
    const pid = Number.parseInt(output, 10);
    process.kill(pid, "SIGKILL");
    try {
      const backend = await file(path("store"));
      for (let attempt = 0; ; attempt++) {
        try {
          await put(backend, 2, recordText("mine"));
          break;
        } catch (error) {
          // A kill takes a moment.
          if ((error as { code?: unknown }).code !== "BUSY" || attempt > 20) throw error;
        }
      }
      expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
      await backend.close();
    } finally {
      shell.kill("SIGKILL");
    }
  });

  test("the lock of one backend gives BUSY to another backend of the same process", async () => {
    const one = await file(path("store"));
    const two = await file(path("store"));
    await put(one, 1, recordText(1));
    await expect(put(two, 2, recordText(2))).rejects.toMatchObject({ code: "BUSY" });
    expect(await get(two, 1)).toBe(recordText(1));
    await one.close();
    await put(two, 2, recordText(2));
    expect([await get(two, 1), await get(two, 2)]).toEqual([recordText(1), recordText(2)]);
    await two.close();
  });

  test.each([
    ["a process that ended", { pid: 2 ** 22 + 1 }],
    ["a process whose pid belongs to another by now", { started: "1" }],
    ["a time before the machine was started again", { boot: "another" }],
  ])("of %s is stale", async (_, changes) => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    await leaveLock(changes);
    const again = await file(path("store"));
    await put(again, 2, recordText(2));
    expect(locks()).not.toContain("lock-00000000deadbeef.json");
    await again.close();
  });

  test.each([
    ["on another machine", { host: "elsewhere", boot: "another" }],
    ["in another container", { pidSpace: "pid:[1]", pid: 1 }],
  ])("of a process %s, whose end cannot be seen from here, counts until it is removed", async (_, changes) => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    await leaveLock(changes);
    const again = await file(path("store"));
    await expect(put(again, 2, recordText(2))).rejects.toThrow(/remove .*lock-00000000deadbeef.json/);
    await again.close();
  });

  test("a lock file left empty by a power cut does not count", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    writeFileSync(path("store", "lock-00000000deadbeef.json"), "");
    const again = await file(path("store"));
    await put(again, 2, recordText(2));
    expect(locks().length).toBe(1);
    await again.close();
  });

  test("the lock of the file backend is never held by two of several processes that contend for it, and none waits for ever", async () => {
    const children = Array.from({ length: 5 }, () => run(contender, path("store"), path("inside"), "4"));
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual(children.map(() => 0));
    const backend = await file(path("store"));
    expect(await get(backend, 1)).toBe(recordText(20));
    expect(await backend.verify()).toEqual([]);
    expect(locks()).toEqual([]);
    await backend.close();
  });

  test("a removed lock is noticed by the next commit, which writes nothing; the commit after takes it again", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    rmSync(path("store", locks()[0] as string));
    await expect(put(backend, 2, recordText(2))).rejects.toMatchObject({ code: "MOVED", committed: false });
    expect(await get(backend, 2)).toBeUndefined();
    await put(backend, 2, recordText(2));
    expect([await get(backend, 1), await get(backend, 2)]).toEqual([recordText(1), recordText(2)]);
    await backend.close();
  });

  test("a lock that was copied with a live store does not count, and the original does", async () => {
    const child = await holder();
    cpSync(path("store"), path("copy"), { recursive: true, preserveTimestamps: true });
    const copy = await file(path("copy"));
    await put(copy, 2, recordText("mine"));
    expect([await get(copy, 1), await get(copy, 2)]).toEqual([recordText("from the holder"), recordText("mine")]);
    const inPlace = await file(path("store"));
    await expect(put(inPlace, 2, recordText("mine"))).rejects.toMatchObject({ code: "BUSY" });
    // A process may have both open.
    cpSync(path("copy"), path("copy of the copy"), { recursive: true });
    const another = await file(path("copy of the copy"));
    await put(another, 2, recordText("another"));
    await put(copy, 3, recordText("mine"));
    for (const backend of [copy, inPlace, another]) await backend.close();
    expect(locks("copy")).toEqual([]);
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  test("a lock that was moved with its directory counts while its process has the store open, and not after", async () => {
    const child = await holder();
    renameSync(path("store"), path("moved"));
    const moved = await file(path("moved"));
    await expect(put(moved, 2, recordText("mine"))).rejects.toMatchObject({ code: "BUSY" });
    child.kill("SIGKILL");
    await once(child, "exit");
    await put(moved, 2, recordText("mine"));
    renameSync(path("moved"), path("moved again"));
    const other = await file(path("moved again"));
    await expect(put(other, 3, recordText("other"))).rejects.toMatchObject({ code: "BUSY" });
    await moved.close();
    expect(locks("moved again").map((name) => readFileSync(path("moved again", name), "utf8"))).toEqual([""]);
    await put(other, 3, recordText("other"));
    await other.close();
    expect(locks("moved again")).toEqual([]);
  });

  test("a lock that was moved with its directory is given up by the next commit, which writes nothing", async () => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    renameSync(path("store"), path("moved"));
    await expect(put(backend, 2, recordText(2))).rejects.toMatchObject({ code: "MOVED", committed: false });
    const moved = await file(path("moved"));
    expect(await get(moved, 2)).toBeUndefined();
    await put(moved, 2, recordText("moved"));
    await put(backend, 2, recordText("made anew"));
    expect([await get(moved, 2), await get(backend, 2)]).toEqual([recordText("moved"), recordText("made anew")]);
    await moved.close();
    await backend.close();
  });

  test("the lock of a worker thread of this process counts", async () => {
    const worker = new Worker(holderProcess, { argv: [path("store")], stdout: true });
    await once(worker.stdout, "data");
    const backend = await file(path("store"));
    await expect(put(backend, 2, recordText(2))).rejects.toMatchObject({ code: "BUSY" });
    await backend.close();
    await worker.terminate();
  });

  test.each([
    ["an older version, which does not say which file it is", {}],
    ["another device, where the same file may look different", { inode: "1:1", device: "1" }],
    ["another machine, where the same file may look different", { inode: "1:1", host: "elsewhere", boot: "another" }],
  ])("of a live process from %s counts", async (_, changes) => {
    const backend = await file(path("store"));
    await put(backend, 1, recordText(1));
    await backend.close();
    const device = (await nodeFileSystem.stat(path("store")))?.device;
    await leaveLock("inode" in changes ? { device, ...changes } : changes);
    const again = await file(path("store"));
    await expect(put(again, 2, recordText(2))).rejects.toMatchObject({ code: "BUSY" });
    await again.close();
  });
});
