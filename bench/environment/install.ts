import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../", import.meta.url));
const savers = ["sqlite", "postgres"].map((kind) => `node_modules/@langchain/langgraph-checkpoint-${kind}`);

/** LangGraph's own savers are packages of the benchmark alone: installed into bench/ when they are not there. */
export function installSavers(): void {
  if (savers.every((path) => existsSync(`${here}${path}`))) return;
  console.log("Installing LangGraph's own savers into bench/ …");
  const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
  if (status !== 0) throw new Error("npm ci --prefix bench failed: LangGraph's savers cannot be measured.");
}
