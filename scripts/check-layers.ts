import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";

/** Fails when a module of src imports from a room that layers.json does not allow, or when modules import each other in a circle. */

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

interface Layers {
  readonly rooms: Readonly<Record<string, string>>;
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  readonly inOrder: readonly string[];
}

const { rooms, mayImport, inOrder } = JSON.parse(readFileSync("layers.json", "utf8")) as Layers;
const faults: string[] = [];

/** Returns the room with the longest name that the module lies in. */
function roomOf(module: string): string | undefined {
  const path = module.replace(/^src\//, "").replace(/\.\w+$/, "");
  const around = Object.keys(rooms).filter((room) => path === room || path.startsWith(`${room}/`));
  return around.sort((left, right) => right.length - left.length)[0];
}

/** Returns all rooms that a room may import: itself, its own list, and in an ordered list every room before it. */
function allowedFor(room: string): ReadonlySet<string> {
  const before = inOrder.slice(0, Math.max(inOrder.indexOf(room), 0));
  const own = [room, ...before].flatMap((each) => [each, ...(mayImport[each] ?? [])]);
  // A room that is allowed as a whole is allowed with the rooms inside it.
  return new Set(Object.keys(rooms).filter((each) => own.some((name) => each === name || each.startsWith(`${name}/`))));
}

/** Returns the modules of src that a module imports, types and dynamic imports included. */
function importsOf(module: string): string[] {
  const text = readFileSync(module, "utf8").replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g);
  return [...found].map(([, specifier]) => normalize(join(dirname(module), specifier as string)));
}

/** Follows imports from a module and reports the first circle it closes. */
function findCircle(module: string, above: readonly string[], done: Set<string>): void {
  const begins = above.indexOf(module);
  if (begins >= 0) {
    faults.push(`a circle of imports: ${[...above.slice(begins), module].join(" -> ")}`);
    return;
  }
  if (done.has(module)) return;
  for (const imported of graph.get(module) ?? []) findCircle(imported, [...above, module], done);
  done.add(module);
}

const modules = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => `src/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".ts"));
const graph = new Map(modules.map((module) => [module, importsOf(module)]));

for (const [module, imports] of graph) {
  const room = roomOf(module);
  if (room === undefined) {
    faults.push(`${module} is in no room of layers.json`);
    continue;
  }
  const allowed = allowedFor(room);
  for (const imported of imports) {
    const other = roomOf(imported);
    if (other === undefined || !allowed.has(other)) faults.push(`${module} (${room}) may not import ${imported}`);
  }
}
const done = new Set<string>();
for (const module of modules) findCircle(module, [], done);

for (const fault of faults) console.error(fault);
console.log(`${modules.length} modules in ${Object.keys(rooms).length} rooms, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
