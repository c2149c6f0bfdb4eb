import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packInto } from "../../scripts/pack.ts";
import { stepsOf } from "../docs/steps.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { lockedLangChain } from "./locked-versions.ts";
import { userEnvironment } from "./user-environment.ts";

/**
 * Installs the packed package as the README says, and runs every program of the README under the oldest Node that is
 * supported and under each later line. Each program must print what its comments say.
 */
const runtimes = ["20.19.0", "22.23.3", "24.21.0"];
const [oldest = ""] = runtimes;

const root = fileURLToPath(new URL("../../", import.meta.url));
process.chdir(root);
const overrides = lockedLangChain();
const programs = stepsOf(readFileSync("README.md", "utf8")).filter(({ kind }) => kind === "js");
assert.ok(programs.length >= 2, "the README has programs");

const folder = makeFolder();
const project = join(folder, "project");
const runtimeFolder = join(folder, "runtimes");
const binaries = (version: string): string => join(runtimeFolder, "node_modules", `node-${version}`, "bin");

try {
  for (const place of [runtimeFolder, project]) {
    mkdirSync(place);
    const allowScripts = { "better-sqlite3": true, node: true };
    writeFileSync(
      join(place, "package.json"),
      JSON.stringify({ private: true, type: "module", allowScripts, overrides }),
    );
  }
  install(runtimeFolder, ...runtimes.map((version) => `node-${version}@npm:node@${version}`));
  const langgraph = ["@langchain/core", "@langchain/langgraph", "@langchain/langgraph-checkpoint"];
  install(project, packInto(folder), "better-sqlite3@12", ...langgraph.map((name) => `${name}@${overrides[name]}`));
  for (const version of runtimes) {
    const node = join(binaries(version), "node");
    const actual = execFileSync(node, ["--version"]).toString().trim();
    assert.equal(actual, `v${version}`);
    for (const { code, line } of programs) runAt(line, code, node);
    console.log(`the README's ${programs.length} programs ran under Node ${version}`);
  }
} finally {
  removeFolder(folder);
}

/** Installs with the oldest Node in front, once it is there: a driver is compiled for the Node that installs it. */
function install(place: string, ...packages: readonly string[]): void {
  const environment = userEnvironment();
  execFileSync("npm", ["install", "--no-fund", "--no-audit", "--loglevel=error", ...packages], {
    cwd: place,
    env: { ...environment, PATH: `${binaries(oldest)}${delimiter}${environment.PATH}` },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/** Runs a program in the project, with nothing left of those before it. */
function runAt(line: number, code: string, node: string): void {
  const file = join(project, `readme-line-${line}.js`);
  writeFileSync(file, code);
  const printed = execFileSync(node, [file], { cwd: project, env: userEnvironment() }).toString();
  const told = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => `${comment}\n`).join("");
  assert.equal(printed, told, `the program at line ${line} of README.md`);
  for (const made of ["agent", "agent.db", "agent.db-wal", "agent.db-shm"]) {
    rmSync(join(project, made), { recursive: true, force: true });
  }
}
