import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packInto } from "../../scripts/pack.ts";
import { stepsOf } from "../docs/steps.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { lockedLangChain } from "./locked-versions.ts";
import { userEnvironment } from "./user-environment.ts";

/**
 * Installs the packed package as the README says, and under every supported runtime runs the README's programs and the
 * conformance kit. Under Node each program must print what its comments say; others print values in their own way.
 * Parameters name some of the runtimes: `npm run test:runtimes -- bun deno`.
 */
interface Runtime {
  readonly name: string;
  /** The npm package that brings the runtime. */
  readonly package: string;
  readonly command: readonly string[];
  /** The places of kit.mjs. */
  readonly places: readonly string[];
  readonly isNode: boolean;
}

const own = ["memory", "file", "sqlite"];
const nodes = ["20.19.0", "22.23.3", "24.21.0"];
const runtimes: readonly Runtime[] = [
  ...nodes.map((version) => ({
    name: `node${Number.parseInt(version, 10)}`,
    package: `node-${version}@npm:node@${version}`,
    command: [`node_modules/node-${version}/bin/node`],
    // Without a SQLite of its own, Node 20 finds better-sqlite3 first.
    places: version.startsWith("20.") ? [...own, "sqlite:libsql"] : own,
    isNode: true,
  })),
  {
    ...{ name: "bun", package: "bun@1.4.4", command: ["node_modules/.bin/bun"] },
    ...{ places: [...own, "sqlite:bun"], isNode: false },
  },
  {
    ...{ name: "deno", package: "deno@2.9.6", command: ["node_modules/.bin/deno", "run", "--allow-all"] },
    ...{ places: own, isNode: false },
  },
];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !runtimes.some((runtime) => runtime.name === name));
assert.deepEqual(unknown, [], `the runtimes are ${runtimes.map(({ name }) => name).join(", ")}`);
const chosen = runtimes.filter(({ name }) => asked.length === 0 || asked.includes(name));

const root = fileURLToPath(new URL("../../", import.meta.url));
process.chdir(root);
const overrides = lockedLangChain();
const programs = stepsOf(readFileSync("README.md", "utf8")).filter(({ kind }) => kind === "js");
assert.ok(programs.length >= 2, "the README has programs");

const folder = makeFolder();
const project = join(folder, "project");
const runtimeFolder = join(folder, "runtimes");

try {
  for (const place of [runtimeFolder, project]) {
    mkdirSync(place);
    const allowScripts = { "better-sqlite3": true, node: true, bun: true, deno: true };
    writeFileSync(
      join(place, "package.json"),
      JSON.stringify({ private: true, type: "module", allowScripts, overrides }),
    );
  }
  install(runtimeFolder, ...chosen.map((runtime) => runtime.package));
  const langgraph = ["@langchain/core", "@langchain/langgraph", "@langchain/langgraph-checkpoint"];
  const drivers = chosen.some(({ name }) => name === "node20") ? ["better-sqlite3@12", "libsql@0.5.29"] : [];
  install(project, packInto(folder), ...drivers, ...langgraph.map((name) => `${name}@${overrides[name]}`));
  for (const file of ["kit.mjs", "killed-writers.mjs"]) copyFileSync(join("test/package", file), join(project, file));
  for (const runtime of chosen) tryOut(runtime);
} finally {
  removeFolder(folder);
}

function tryOut(runtime: Runtime): void {
  for (const { code, line } of programs) runAt(line, code, runtime);
  console.log(`the README's ${programs.length} programs ran under ${runtime.name}`);
  console.log(run(runtime, "kit.mjs", ...runtime.places).trim());
  if (runtime.places.includes("sqlite:libsql")) console.log(run(runtime, "killed-writers.mjs").trim());
}

/** Runs a file of the project and returns what it printed. */
function run(runtime: Runtime, ...parameters: readonly string[]): string {
  const [file = "", ...before] = runtime.command;
  const options = { cwd: project, env: userEnvironment(), maxBuffer: 2 ** 26 };
  return execFileSync(join(runtimeFolder, file), [...before, ...parameters], options).toString();
}

/** Installs with the oldest Node in front, once it is there: a driver is compiled for the Node that installs it. */
function install(place: string, ...packages: readonly string[]): void {
  const environment = userEnvironment();
  const oldest = join(runtimeFolder, `node_modules/node-${nodes[0]}/bin`);
  execFileSync("npm", ["install", "--no-fund", "--no-audit", "--loglevel=error", ...packages], {
    cwd: place,
    env: { ...environment, PATH: `${oldest}${delimiter}${environment.PATH}` },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/** Runs a program in the project, with nothing left of those before it. */
function runAt(line: number, code: string, runtime: Runtime): void {
  const file = join(project, `readme-line-${line}.js`);
  writeFileSync(file, code);
  const printed = run(runtime, file);
  const told = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => `${comment}\n`).join("");
  if (runtime.isNode) assert.equal(printed, told, `the program at line ${line} of README.md under ${runtime.name}`);
  for (const made of ["agent", "agent.db", "agent.db-wal", "agent.db-shm", "agent.db-owner"]) {
    rmSync(join(project, made), { recursive: true, force: true });
  }
}
