import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packInto } from "./pack.ts";
import { overBudget } from "./size-budget.ts";

/** Checks the package that would be published: its files, its exports and the types of every entry point. */
process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const folder = mkdtempSync(join(tmpdir(), "threadmark-pack-"));
const tarball = packInto(folder);
const checks = [
  ["publint", "--strict", tarball],
  ["attw", "--profile", "esm-only", "--no-emoji", tarball],
];
const failed = checks.filter(([command = "", ...args]) => spawnSync(command, args, { stdio: "inherit" }).status !== 0);
const heavy = await overBudget(process.cwd(), tarball);
for (const fault of heavy) console.error(fault);
rmSync(folder, { recursive: true, force: true });
process.exit(failed.length + heavy.length === 0 ? 0 : 1);
