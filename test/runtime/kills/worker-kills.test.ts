import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { jobs } from "./jobs.ts";

const inFolder = folderForEach();
const program = fileURLToPath(new URL("worker-process.ts", import.meta.url));

test("workers in several processes, killed again and again, end every run once", { timeout: 120_000 }, async () => {
  const url = `sqlite:${inFolder("jobs.db")}`;
  await using store = await open(url, { fsync: "normal" });
  const flow = jobs(store);
  const threads = Array.from({ length: 20 }, (_, index) => `t${index}`);
  for (const thread of threads) {
    await flow.start({ out: [] }, { thread, run: "job" });
    await flow.signal(thread, "go", thread, { id: "go" });
  }
  const children: ChildProcess[] = [];
  const begin = (): void => void children.push(spawn(process.execPath, [program, url], { stdio: "ignore" }));
  try {
    begin();
    begin();
    const isDone = async (thread: string): Promise<boolean> => (await flow.state(thread))?.status === "done";
    let kills = 0;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 700));
      if ((await Promise.all(threads.map(isDone))).every(Boolean)) break;
      if (kills < 6) {
        kills += 1;
        children.shift()?.kill("SIGKILL");
        begin();
      }
    }
    expect(kills).toBeGreaterThanOrEqual(2);
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
  for (const thread of threads) {
    const state = (await flow.state(thread))?.state;
    expect(state?.out).toEqual(["one", "two", "three", "rested", `signal ${thread}`]);
    expect(await flow.signal(thread, "go", "again", { id: "go" })).toEqual({ stored: false });
  }
  expect((await store.verify()).faults).toEqual([]);
});
