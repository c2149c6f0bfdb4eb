import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packInto } from "../../scripts/pack.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";
import { userEnvironment } from "./user-environment.ts";

/**
 * Packs the package, installs it into an empty project as a user would, and runs smoke.mjs there under the machine's
 * own Node: the repository's own is newer and has node:sqlite, so libSQL and an older Node are tried here only.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
process.chdir(root);

/** The version of libSQL that the tests use. */
const LIBSQL = "0.5.29";

const environment = userEnvironment();
const folder = makeFolder();
const project = join(folder, "project");
const inProject = (command: string, ...parameters: string[]): void => {
  execFileSync(command, parameters, { cwd: project, env: environment, stdio: ["ignore", "inherit", "inherit"] });
};

try {
  mkdirSync(project);
  const tarball = packInto(folder);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "empty", private: true, type: "module", allowScripts: {} }),
  );

  const version = execFileSync("node", ["--version"], { env: environment }).toString().trim();
  console.log(`the machine's own Node is ${version}`);

  inProject("npm", "install", "--no-fund", "--no-audit", "--loglevel=error", tarball, ...peers(version));
  for (const file of ["smoke.mjs", "kit.mjs", "consumer.ts", "langgraph-consumer.ts"])
    copyFileSync(join(root, "test/package", file), join(project, file));
  inProject("node", "smoke.mjs");
  inProject("node", "kit.mjs", "memory", "file", "sqlite");
  typeCheck();
  console.log("the packed package works");
} finally {
  removeFolder(folder);
}

/** Returns the packages that a user of every entry point installs beside this one. */
function peers(version: string): string[] {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const shared = ["@langchain/core", "@langchain/langgraph-checkpoint", "@opentelemetry/api", "@types/node"];
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  const hasOwnSqlite = major > 22 || (major === 22 && minor >= 13);
  return [
    ...shared.map((name) => `${name}@${devDependencies[name]}`),
    // Comes compiled; better-sqlite3 would take a compiler and a minute and a half. `npm run test:runtimes` tries that one.
    ...(hasOwnSqlite ? [] : [`libsql@${LIBSQL}`]),
  ];
}

/** The declarations must stand on their own in a strict project that checks its libraries too. */
function typeCheck(): void {
  const settings =
    "--strict --exactOptionalPropertyTypes --target es2023 --module nodenext --types node --noEmit".split(" ");
  const compile = (...parameters: string[]): void =>
    inProject(join(root, "node_modules/.bin/tsc"), ...settings, "--lib", "es2023,esnext.disposable", ...parameters);
  compile("consumer.ts");
  // LangChain's own declarations do not pass such a check.
  compile("--skipLibCheck", "langgraph-consumer.ts");
}
