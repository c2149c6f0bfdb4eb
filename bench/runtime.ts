/**
 * What a step of a graph of empty nodes costs, by backend and durability: `node bench/runtime.ts [runs]`. The nodes do
 * nothing, so this is what the runtime and the store take, and the least that any step can cost.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type OpenOptions, open } from "../src/index.ts";
import { type Durability, END, graph, START } from "../src/runtime/index.ts";

export interface StepTiming {
  readonly system: string;
  readonly backend: string;
  readonly durability: Durability;
  /** Microseconds a step: of the run in the middle, and on average. */
  readonly p50: number;
  readonly mean: number;
}

/** Something that runs a line of empty nodes on a thread of its own, once. */
export interface StepRunner {
  readonly system: string;
  readonly backend: string;
  run(thread: string, durability: Durability): Promise<void>;
  close(): Promise<void>;
}

export const stepsInRun = 50;
export const durabilities: readonly Durability[] = ["sync", "async", "exit"];

/** The time a step takes. All runners take turns, so that they meet the same machine. */
export async function measureSteps(runners: readonly StepRunner[], runs: number): Promise<readonly StepTiming[]> {
  const contests = runners.flatMap((runner) =>
    durabilities.map((durability) => ({ runner, durability, times: [] as number[] })),
  );
  const warmUp = Math.ceil(runs / 5);
  for (let round = -warmUp; round < runs; round += 1) {
    for (const { runner, durability, times } of contests) {
      const start = performance.now();
      await runner.run(`${durability} ${round}`, durability);
      if (round >= 0) times.push(((performance.now() - start) * 1000) / stepsInRun);
    }
  }
  return contests.map(({ runner: { system, backend }, durability, times }) => {
    const sorted = times.sort((a, b) => a - b);
    const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length;
    return { system, backend, durability, p50: sorted[sorted.length >> 1] ?? 0, mean };
  });
}

/** Threadmark's runtime on a store. */
export async function threadmarkRunner(backend: string, url: string, options: OpenOptions = {}): Promise<StepRunner> {
  const store = await open(url, { ...options });
  const builder = graph<{ n: number }>("line");
  for (let step = 0; step < stepsInRun; step += 1) {
    builder.node(`n${step}`, () => undefined).edge(step === 0 ? START : `n${step - 1}`, `n${step}`);
  }
  const flow = builder.edge(`n${stepsInRun - 1}`, END).compile({ store });
  return {
    system: "threadmark",
    backend,
    run: async (thread, durability) => void (await flow.run({ n: 1 }, { thread, durability })),
    close: () => store.close(),
  };
}

/** The stores that a step is measured on: in memory, and SQLite with and without a sync to the disk at every commit. */
export async function threadmarkRunners(directory: string): Promise<readonly StepRunner[]> {
  return [
    await threadmarkRunner("memory", "memory:"),
    await threadmarkRunner("sqlite, fsync normal", `sqlite:${join(directory, "normal.db")}`, { fsync: "normal" }),
    await threadmarkRunner("sqlite, fsync full", `sqlite:${join(directory, "full.db")}`, { fsync: "full" }),
  ];
}

export function tableOf(timings: readonly StepTiming[]): string {
  const rows = timings.map(({ system, backend, durability, p50, mean }) =>
    [
      system.padEnd(12),
      backend.padEnd(22),
      durability.padEnd(6),
      p50.toFixed(0).padStart(7),
      mean.toFixed(0).padStart(7),
    ].join(" "),
  );
  const title = [
    "system".padEnd(12),
    "backend".padEnd(22),
    "mode".padEnd(6),
    "p50 µs".padStart(7),
    "mean µs".padStart(7),
  ].join(" ");
  return [title, ...rows].join("\n");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const directory = mkdtempSync(join(tmpdir(), "threadmark-bench-"));
  const runners = await threadmarkRunners(directory);
  const runs = Number(process.argv[2] ?? 40);
  console.log(`A step of a line of ${stepsInRun} empty nodes, ${runs} runs`);
  console.log(tableOf(await measureSteps(runners, runs)));
  for (const runner of runners) await runner.close();
  rmSync(directory, { recursive: true, force: true });
}
