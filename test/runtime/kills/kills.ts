import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { open, type Store } from "../../../src/index.ts";
import type { Durability } from "../../../src/runtime/index.ts";
import { collect } from "../../support/collect.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";
import { input, type Work, workload } from "./workload.ts";

const script = new URL("./runner.ts", import.meta.url).pathname;

export interface Toll {
  readonly kills: number;
  readonly runs: number;
  /** Tasks that were run more than once, because a kill came before their write was durable. */
  readonly repeated: number;
}

/** Kills runs at random moments until they are through, and checks what must hold of every task and of the end. */
export async function survivesKills(
  kills: number,
  durability: Durability,
  random: () => number = Math.random,
): Promise<Toll> {
  const expected = await undisturbed();
  const toll = { kills: 0, runs: 0, repeated: 0 };
  while (toll.kills < kills) {
    const directory = makeFolder();
    const killed = await oneRun(directory, durability, expected, random, kills - toll.kills);
    toll.kills += killed.kills;
    toll.repeated += killed.repeated;
    toll.runs += 1;
    removeFolder(directory);
  }
  return toll;
}

/** The state and the tasks of a run that nobody kills. */
async function undisturbed(): Promise<{ state: Work; tasks: ReadonlySet<string> }> {
  const store = await open("memory:");
  const tasks = new Set<string>();
  const flow = workload(store, async (task) => void tasks.add(task));
  const { state } = await flow.run(input, { thread: "t", run: "r" });
  await store.close();
  return { state, tasks };
}

async function oneRun(
  directory: string,
  durability: Durability,
  expected: { state: Work; tasks: ReadonlySet<string> },
  random: () => number,
  most: number,
): Promise<{ kills: number; repeated: number }> {
  const url = `sqlite:${join(directory, "store.db")}`;
  const log = join(directory, "log");
  const lines = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  /** How many lines each durable task had when it was first found durable: that is how many it may ever have. */
  const settled = new Map<string, number>();
  let kills = 0;
  for (;;) {
    const how = kills > 0 && lines().length > 0 && (await hasThread(url)) && kills % 2 === 1 ? "recover" : "run";
    const left = await untilKilled(
      [url, log, durability, how],
      kills < most ? lines().length + Math.floor(random() * 14) : undefined,
      lines,
      random,
    );
    const counts = countOf(lines());
    const store = await open(url);
    assert.deepEqual((await store.verify()).faults, []);
    for (const task of await durableTasks(store)) {
      const before = settled.get(task);
      if (before === undefined) settled.set(task, counts.get(task) ?? 0);
      else assert.equal(counts.get(task) ?? 0, before, `${task} was durable, and was run again`);
    }
    if (left === "done") {
      assert.deepEqual((await store.thread("t").latest())?.state, expected.state);
      assert.deepEqual(new Set(counts.keys()), expected.tasks);
      await store.close();
      return { kills, repeated: [...counts.values()].filter((count) => count > 1).length };
    }
    await store.close();
    kills += 1;
  }
}

async function hasThread(url: string): Promise<boolean> {
  const store = await open(url);
  const count = await store.thread("t").count();
  await store.close();
  return count > 0;
}

/** Every task whose result is in the store, by the key its node knows it under. */
async function durableTasks(store: Store<unknown>): Promise<readonly string[]> {
  const tasks: string[] = [];
  for (const namespace of await store.thread("t").namespaces()) {
    const handle = store.thread("t", { namespace });
    for (const { id } of await collect(handle.history())) {
      for (const { task, index } of await handle.writes(id))
        if (index === 0) tasks.push(["t", "r", ...namespace, task].join("/"));
    }
  }
  return [...new Set(tasks)];
}

function countOf(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Runs the runner to its end, or kills it some moments after the log has reached a length. */
async function untilKilled(
  parameters: readonly string[],
  fatal: number | undefined,
  lines: () => readonly string[],
  random: () => number,
): Promise<"done" | "killed"> {
  const child = spawn(process.execPath, [script, ...parameters], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const closed = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  let over = false;
  void closed.then(() => {
    over = true;
  });
  if (fatal !== undefined) {
    while (!over && lines().length < fatal) await wait(1);
    await wait(random() * 6);
    child.kill("SIGKILL");
  }
  const code = await closed;
  if (code === null) return "killed";
  assert.equal(code, 0, errors);
  return "done";
}
