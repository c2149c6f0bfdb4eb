import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Layers, layerFaults } from "./layers.ts";

/** Fails when a module of src imports from a room that layers.json does not allow, or when modules import each other in a circle. */

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const layers = JSON.parse(readFileSync("layers.json", "utf8")) as Layers;
const modules = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => `src/${path.replaceAll("\\", "/")}`)
  .filter((path) => /\.tsx?$/.test(path));
const faults = layerFaults(layers, new Map(modules.map((module) => [module, readFileSync(module, "utf8")])));

for (const fault of faults) console.error(fault);
console.log(`${modules.length} modules in ${Object.keys(layers.rooms).length} rooms, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
