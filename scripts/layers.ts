import { dirname, join, normalize } from "node:path/posix";

/** The content of layers.json. A room is a folder of src, or a module at its root. */
export interface Layers {
  /** The purpose of each room, by name. */
  readonly rooms: Readonly<Record<string, string>>;
  /** The rooms that each room may import, beside itself. */
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  /** Rooms of which each may import all rooms before it, and their lists. */
  readonly inOrder: readonly string[];
  /** The only modules of a room that other rooms may import; rooms without a list are open. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

/** Returns the faults of the modules of src, given as text by path: imports that are not allowed, and circles. */
export function layerFaults(layers: Layers, modules: ReadonlyMap<string, string>): string[] {
  const imports = new Map([...modules].map(([module, text]) => [module, importsOf(module, text)]));
  return [...importFaults(layers, imports), ...circles(imports)];
}

function importFaults(layers: Layers, imports: ReadonlyMap<string, readonly string[]>): string[] {
  const faults: string[] = [];
  for (const [module, imported] of imports) {
    const room = roomOf(layers, module);
    if (room === undefined) {
      faults.push(`${module} is in no room of layers.json`);
      continue;
    }
    const allowed = allowedFor(layers, room);
    for (const other of imported) {
      const otherRoom = roomOf(layers, other);
      if (otherRoom === undefined || !allowed.has(otherRoom))
        faults.push(`${module} (${room}) may not import ${other}`);
      else {
        const closed = closedRoom(layers, room, other);
        if (closed !== undefined)
          faults.push(`${module} (${room}) may import ${closed} only through ${layers.entries[closed]?.join(", ")}`);
      }
    }
  }
  return faults;
}

/** Returns the path of a module below src, without its extension. */
function nameOf(module: string): string {
  return module.replace(/^src\//, "").replace(/\.\w+$/, "");
}

/** Returns a room with entries around the module that the importing room is not in, and that does not list the module. */
function closedRoom({ entries }: Layers, room: string, module: string): string | undefined {
  const name = nameOf(module);
  const isIn = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
  return Object.keys(entries).find((each) => isIn(name, each) && !isIn(room, each) && !entries[each]?.includes(name));
}

/** Returns the room with the longest name that the module lies in. */
function roomOf({ rooms }: Layers, module: string): string | undefined {
  const name = nameOf(module);
  const around = Object.keys(rooms).filter((room) => name === room || name.startsWith(`${room}/`));
  return around.sort((left, right) => right.length - left.length)[0];
}

/** Returns all rooms that a room may import: itself, its own list, and in an ordered list every room before it. */
function allowedFor({ rooms, mayImport, inOrder }: Layers, room: string): ReadonlySet<string> {
  const before = inOrder.slice(0, Math.max(inOrder.indexOf(room), 0));
  const own = [room, ...before].flatMap((each) => [each, ...(mayImport[each] ?? [])]);
  // A room that is allowed as a whole is allowed with the rooms inside it.
  return new Set(Object.keys(rooms).filter((each) => own.some((name) => each === name || each.startsWith(`${name}/`))));
}

/** Returns the modules of src that a module imports, types and dynamic imports included. */
function importsOf(module: string, text: string): string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const found = code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g);
  return [...found].map(([, specifier]) => normalize(join(dirname(module), specifier as string)));
}

/** Returns a fault for each circle that following the imports closes. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const faults: string[] = [];
  const done = new Set<string>();
  const follow = (module: string, above: readonly string[]): void => {
    const begins = above.indexOf(module);
    if (begins >= 0) faults.push(`a circle of imports: ${[...above.slice(begins), module].join(" -> ")}`);
    if (begins >= 0 || done.has(module)) return;
    for (const imported of imports.get(module) ?? []) follow(imported, [...above, module]);
    done.add(module);
  };
  for (const module of imports.keys()) follow(module, []);
  return faults;
}
