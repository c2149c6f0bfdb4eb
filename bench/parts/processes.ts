import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { open } from "../../src/index.ts";
import { builtPackage } from "../environment/build.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { median } from "../harness/timing.ts";

const processes = 8;
type Mode = "turns" | "busy handler";

interface Outcome {
  readonly rate: number;
  readonly fairness: number;
  /** Milliseconds. */
  readonly longest: number;
}

/** Eight processes put into one file for some seconds, each into its own thread. Any error of theirs is one of ours. */
async function contest({ place }: Context, mode: Mode, seconds: number): Promise<Outcome> {
  const path = place.path("contest");
  const dist = builtPackage();
  const program = fileURLToPath(new URL("../children/writer.mjs", import.meta.url));
  const writers = Array.from({ length: processes }, (_, index) => {
    const child = spawn(process.execPath, [program, dist, path, String(index + 1), String(seconds), mode], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  const line = async (lines: AsyncIterator<string>): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("A writer ended early.");
    return value;
  };
  await Promise.all(writers.map(({ lines }) => line(lines)));
  for (const { child } of writers) child.stdin.write("go\n");
  const shares = await Promise.all(
    writers.map(async ({ lines }) => JSON.parse(await line(lines)) as { puts: number; longest: number }),
  );
  const puts = shares.map((share) => share.puts);
  const total = puts.reduce((sum, count) => sum + count, 0);
  await Promise.all(
    writers.map(({ child }) => child.exitCode ?? new Promise((resolve) => child.once("exit", resolve))),
  );
  await checkFile(path, total);
  return {
    rate: total / seconds,
    fairness: Math.min(...puts) / Math.max(...puts),
    longest: Math.max(...shares.map((share) => share.longest)),
  };
}

/** Nothing was lost: each thread has its first checkpoint, and those that were counted. */
async function checkFile(path: string, total: number): Promise<void> {
  const store = await open(`sqlite:${path}`);
  const { checkpoints } = await store.measure();
  await store.close();
  if (checkpoints !== total + processes) throw new Error(`${checkpoints} checkpoints are there, ${total} were put.`);
}

/** How eight processes share one SQLite file, against the same puts on SQLite's own busy handler. */
export const processesOnOneFile: Part = {
  name: "processes",
  title: "eight processes on one SQLite file, fsync full",
  async run(context) {
    const { report, quick } = context;
    const seconds = quick ? 1 : 3;
    const outcomes: Record<Mode, Outcome[]> = { "busy handler": [], turns: [] };
    // By turns, so that both meet the same disk.
    for (let round = 0; round < (quick ? 1 : 3); round += 1)
      for (const mode of ["busy handler", "turns"] as const) outcomes[mode].push(await contest(context, mode, seconds));
    const rows: Cell[][] = (["turns", "busy handler"] as const).map((mode) => [
      mode === "turns" ? "Threadmark" : "the same on SQLite's busy handler",
      median(outcomes[mode].map(({ rate }) => rate)),
      median(outcomes[mode].map(({ fairness }) => fairness)),
      Math.max(...outcomes[mode].map(({ longest }) => longest)),
    ]);
    report.table(
      `${processes} processes, one file, ${seconds} seconds`,
      [
        { title: "" },
        { title: "puts", unit: "/s" },
        { title: "slowest/fastest", unit: "×" },
        { title: "longest wait", unit: "ms" },
      ],
      rows,
    );
    const [ours, busy] = rows as [number[], number[]];
    report.target("8 processes: longest wait", ours[3] as number, 500, { unit: "ms" });
    report.target("8 processes: slowest/fastest share", ours[2] as number, 0.5, { least: true });
    const ratio = (ours[1] as number) / (busy[1] as number);
    report.target("8 processes: puts a second against SQLite's busy handler", ratio, 0.8, { least: true });
  },
};
