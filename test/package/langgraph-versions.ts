import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packInto } from "../../scripts/pack.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { lockedLangChain } from "./locked-versions.ts";

/**
 * Installs the packed package beside the oldest versions of LangGraph's packages that its peer ranges allow, and beside those
 * the repository is tested with, and type-checks and runs a graph there.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
process.chdir(root);

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const { peerDependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const peers = ["@langchain/core", "@langchain/langgraph-checkpoint"];

function oldestOf(name: string): string {
  const oldest = /\d+\.\d+\.\d+/.exec(peerDependencies[name] ?? "")?.[0];
  if (oldest === undefined) throw new Error(`the peer range of ${name} names no oldest version`);
  return oldest;
}

const settings = "--strict --exactOptionalPropertyTypes --target es2023 --module nodenext --types node --noEmit";
const folder = makeFolder();
try {
  const tarball = packInto(folder);
  // LangGraph itself is no peer: its 1.0.0 is what the oldest of the peers came with.
  check("oldest", tarball, [...peers.map((name) => `${name}@${oldestOf(name)}`), "@langchain/langgraph@1.0.0"]);
  check(
    "newest",
    tarball,
    [...peers, "@langchain/langgraph"].map((name) => `${name}@${devDependencies[name]}`),
    lockedLangChain(),
  );
} finally {
  removeFolder(folder);
}

function check(name: string, tarball: string, packages: readonly string[], others: Record<string, string> = {}): void {
  const project = join(folder, name);
  mkdirSync(project);
  const versions = packages.map((entry) => [entry.slice(0, entry.lastIndexOf("@")), entry.split("@").at(-1)] as const);
  // Dependencies of these packages must have this version too, not a newer one beside it.
  const dependencies = Object.fromEntries(versions);
  const overrides = { ...others, ...dependencies };
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "langgraph-versions", private: true, type: "module", dependencies, overrides }),
  );
  const run = (command: string, ...parameters: string[]): void => {
    execFileSync(command, parameters, { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
  };
  const tools = ["@types/node", "zod"].map((each) => `${each}@${devDependencies[each]}`);
  const quiet = ["--no-fund", "--no-audit", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  run("npm", "install", ...quiet, tarball, ...tools);
  for (const [each, version] of versions) {
    const installed = JSON.parse(readFileSync(join(project, "node_modules", each, "package.json"), "utf8"));
    if (installed.version !== version) throw new Error(`${each} is ${installed.version}, not ${version}`);
  }
  copyFileSync(join(root, "test/package/langgraph-graph.ts"), join(project, "langgraph-graph.ts"));
  const lib = ["--lib", "es2023,esnext.disposable,dom", "--skipLibCheck"];
  run(join(root, "node_modules/.bin/tsc"), ...settings.split(" "), ...lib, "langgraph-graph.ts");
  run(process.execPath, "langgraph-graph.ts");
  console.log(`${name}: ${packages.join(", ")}: type-checked and run`);
}
