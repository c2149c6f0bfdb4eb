import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { open } from "../../../src/index.ts";
import type { BackendUnderTest } from "../../support/places.ts";
import { jobs } from "./jobs.ts";

const program = fileURLToPath(new URL("worker-process.ts", import.meta.url));

/**
 * Lets workers of two processes run jobs on one store, and kills one of them after the other. Every run must end, each of its
 * steps and signals once. Returns the number of kills.
 */
export async function survivesWorkerKills(backend: BackendUnderTest, runs: number, most: number): Promise<number> {
  const place = await backend.make();
  const children: ChildProcess[] = [];
  const begin = (): void => {
    const args = [program, place.url as string, JSON.stringify(place.options ?? {})];
    children.push(spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] }));
  };
  let kills = 0;
  try {
    await using store = await open(place.url, { ...place.options });
    const flow = jobs(store);
    const threads = Array.from({ length: runs }, (_, index) => `t${index}`);
    for (const thread of threads) {
      await flow.start({ out: [] }, { thread, run: "job", attributes: { batch: 1 } });
      await flow.signal(thread, "go", thread, { id: "go" });
    }
    begin();
    begin();
    const count = async (status: "done" | "running"): Promise<number> => {
      let found = 0;
      for await (const _ of store.threads({ workflow: "jobs", status })) found += 1;
      return found;
    };
    while ((await count("done")) < runs) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      // A kill must hit a run that is at work.
      if (kills >= most || (await count("running")) === 0) continue;
      kills += 1;
      children.shift()?.kill("SIGKILL");
      begin();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    for (const child of children.splice(0)) child.kill("SIGKILL");
    for (const thread of threads) {
      const state = (await flow.state(thread))?.state;
      expect(state?.out).toEqual(["one", "two", "three", "rested", `signal ${thread}`]);
      expect(await flow.signal(thread, "go", "again", { id: "go" })).toEqual({ stored: false });
    }
    const found: string[] = [];
    for await (const { id } of store.threads({ where: { batch: 1 }, status: "done" })) found.push(id);
    expect(found.sort()).toEqual([...threads].sort());
    for await (const { thread } of store.due({ workflow: "jobs", leased: true })) expect.fail(`${thread} is due`);
    expect((await store.verify()).faults).toEqual([]);
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await place.cleanup();
  }
  return kills;
}
