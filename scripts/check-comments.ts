import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commentFaults } from "./comments.ts";

/** Fails on comments that are hard to read for a newcomer. CONTRIBUTING.md has the rule with examples. */

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

let comments = 0;
let faulty = 0;
for (const folder of ["src", "test", "bench", "scripts", "examples"]) {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:tsx?|js|mjs)$/.test(path) || path.includes("node_modules")) continue;
    const { count, faults } = commentFaults(readFileSync(`${folder}/${path}`, "utf8"), folder === "src");
    comments += count;
    faulty += faults.length;
    for (const { line, message } of faults) console.error(`${folder}/${path}:${line}: ${message}`);
  }
}
console.log(`${comments} comments, ${faulty} faults`);
process.exitCode = faulty > 0 ? 1 : 0;
