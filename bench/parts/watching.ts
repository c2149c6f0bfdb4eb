import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { open } from "../../src/index.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";

const threads = 5;

/** Puts now and then, and returns the milliseconds until another process was told of each put, ascending. */
async function delays(
  { place }: Context,
  scheme: "sqlite" | "file" | "postgres",
  count: number,
): Promise<readonly number[]> {
  const isServer = scheme === "postgres";
  const url = isServer ? await place.postgres() : `${scheme}:${place.path(`watched-${scheme}`)}`;
  const program = fileURLToPath(new URL("../children/watcher.ts", import.meta.url));
  const child = spawn(process.execPath, [program, url], { stdio: ["ignore", "pipe", "inherit"] });
  const told = new Map<string, number>();
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [id = "", at] = line.split(" ");
      if (id === "ready") resolve();
      else told.set(id, Number(at));
    });
  });
  const store = await open(url);
  const committed = new Map<string, number>();
  for (let n = 0; n < count; n += 1) {
    const { id } = await store.thread(`t${n % threads}`).put({ state: { n } });
    committed.set(id, Date.now());
    await wait(Math.random() * 30);
  }
  for (const end = Date.now() + 5_000; told.size < count && Date.now() < end; ) await wait(20);
  child.kill();
  await store.close();
  if (told.size !== count) throw new Error(`${told.size} of ${count} puts were told.`);
  return [...committed].map(([id, at]) => (told.get(id) as number) - at).sort((left, right) => left - right);
}

/** How soon a watch in another process tells of a put. */
export const watching: Part = {
  name: "watching",
  title: "store.watch in another process",
  async run(context) {
    const { report, quick } = context;
    const count = quick ? 60 : 300;
    const rows: Cell[][] = [];
    for (const scheme of ["sqlite", "file", "postgres"] as const) {
      const taken = await delays(context, scheme, count);
      const at = (part: number): number => taken[Math.floor((taken.length - 1) * part)] as number;
      rows.push([scheme, at(0.5), at(0.9), at(0.99)]);
      report.target(`${scheme}: a put is told to another process, p99`, at(0.99), 50, { unit: "ms" });
    }
    report.table(
      `from the end of a put to its change in another process, ${count} puts`,
      [{ title: "" }, { title: "median", unit: "ms" }, { title: "p90", unit: "ms" }, { title: "p99", unit: "ms" }],
      rows,
    );
  },
};
