import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { builtPackage } from "../../environment/build.ts";
import { compare } from "../../harness/compare.ts";
import type { Part } from "../../harness/context.ts";
import { RawTable } from "../../systems/raw-sqlite.ts";

function run(program: string): { readonly milliseconds: number } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return { milliseconds: Number(stdout) };
}

/** Measures a process up to its first read, beside a process that opens the same file with the bare driver. */
export const start: Part = {
  name: "start",
  title: "importing the package and opening a SQLite file in a new process",
  async run({ place, report, quick }) {
    const url = builtPackage();
    const { open } = (await import(url)) as typeof import("../../../src/index.ts");
    const path = place.path("start");
    const store = await open<{ n: number }>(`sqlite:${path}`);
    await store.thread("t").put({ state: { n: 1 } });
    await store.close();
    const rawPath = place.path("raw");
    const table = new RawTable(rawPath);
    table.insert("{}");
    table.close();
    const ours = `
      const start = performance.now();
      const { open } = await import(${JSON.stringify(url)});
      const store = await open("sqlite:" + ${JSON.stringify(path)});
      process.stdout.write(String(performance.now() - start));
      await store.close();`;
    const bare = `
      const start = performance.now();
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(${JSON.stringify(rawPath)});
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = full");
      database.prepare("SELECT value FROM raw WHERE key = ?");
      process.stdout.write(String(performance.now() - start));
      database.close();`;
    // The package is one file, and what it exports a list at the end of it.
    const [, core] = /from "(.*)"/.exec(readFileSync(new URL(url), "utf8")) as RegExpExecArray;
    const compiling = `
      import { readFileSync } from "node:fs";
      import { Script } from "node:vm";
      const text = readFileSync(new URL(${JSON.stringify(new URL(core as string, url).href)}), "utf8");
      const start = performance.now();
      new Script(text.replace(/^export .*$/gm, ""));
      process.stdout.write(String(performance.now() - start));`;
    const inside = { ours: [] as number[], bare: [] as number[], compiling: [] as number[] };
    const found = await compare(
      { rounds: quick ? 5 : 15, batch: 1 },
      () => inside.ours.push(run(ours).milliseconds),
      () => inside.bare.push(run(bare).milliseconds),
    );
    for (let count = 0; count < (quick ? 3 : 10); count += 1) inside.compiling.push(run(compiling).milliseconds);
    const least = (times: readonly number[]): number => Math.min(...times);
    report.table(
      "A new process that imports the package, opens a file and ends",
      [
        { title: "" },
        { title: "whole process, p50", unit: "ms" },
        { title: "import and open, fastest", unit: "ms" },
        { title: "of that compiling", unit: "ms" },
      ],
      [
        ["threadmark (dist)", found.ours.p50, least(inside.ours), least(inside.compiling)],
        ["node:sqlite alone", found.other.p50, least(inside.bare), null],
      ],
    );
    report.target("import and open in a new process against the bare driver's process", found.p50, 1.3);
  },
};
