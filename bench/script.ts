import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Report, target } from "./report.ts";

/** Runs a bench that is a program of its own, and notes whether it kept its promises. */
export function runScript(report: Report, title: string, name: string, ...parameters: readonly string[]): void {
  console.log(`\n${title}`);
  const path = fileURLToPath(new URL(name, import.meta.url));
  if (!existsSync(path)) throw new Error(`There is no ${path}.`);
  const { status } = spawnSync(process.execPath, [path, ...parameters], { stdio: "inherit" });
  target(report, { name: `${title}: exit code`, value: status ?? 1, limit: 0 });
}
