import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderOfFile } from "../support/folders-of-tests.ts";
import { createDatabase, type TestDatabase } from "../support/postgres/database.ts";
import { type Outcome, root, run, runProgram, runScript } from "./run.ts";
import { type Step, stepsOf } from "./steps.ts";

const pages = ["README.md", "AGENTS.md", "docs/**/*.md"]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .sort()
  .map((path) => ({ path, steps: stepsOf(readFileSync(join(root, path), "utf8")) }))
  .filter(({ steps }) => steps.length > 0);

// Programs lie inside the repository, where they find its packages; they run in an empty folder elsewhere.
mkdirSync(join(root, ".docs-blocks"), { recursive: true });
const programs = mkdtempSync(join(root, ".docs-blocks/run-"));
const fileOf = (path: string, step: Step): string =>
  join(programs, `${path.replaceAll(/\W+/g, "-")}-line-${step.line}.${step.kind === "ts" ? "ts" : "mjs"}`);

const environment: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1" };
let postgres: TestDatabase | undefined;

beforeAll(async () => {
  const all = pages.flatMap(({ path, steps }) => steps.map((step) => ({ path, step })));
  for (const { path, step } of all) if (step.kind !== "sh") writeFileSync(fileOf(path, step), step.code);
  if (all.some(({ step }) => step.code.includes("DATABASE_URL"))) {
    postgres = await createDatabase();
    environment.DATABASE_URL = postgres.url;
  }
});
afterAll(async () => {
  await postgres?.drop();
  rmSync(programs, { recursive: true, force: true });
});

const succeeded = (outcome: Outcome): void => expect(outcome.code, outcome.output).toBe(0);

describe.each(pages)("$path", ({ path, steps }) => {
  // Each page has a folder, so that its commands can look at the files its programs wrote.
  const cwd = folderOfFile();

  it.each(steps)("the $kind block at line $line runs", async (step) => {
    succeeded(
      step.kind === "sh"
        ? await runScript(step, cwd, environment)
        : await runProgram(fileOf(path, step), cwd, environment),
    );
  });
});

it.runIf(pages.some(({ steps }) => steps.some(({ kind }) => kind === "ts")))("every ts block type-checks", async () => {
  const compilerOptions = { moduleDetection: "force" };
  const settings = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(programs, "tsconfig.json"), JSON.stringify(settings));
  succeeded(await run([join(root, "node_modules/.bin/tsc"), "-p", programs], root, environment));
});
