import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFailure, exitCodes, usage } from "../failure.ts";

/** Imports a module of the user's program by its path. */
export async function importApp(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file)) throw new CommandFailure(exitCodes.notFound, "NOT_FOUND", `There is no file ${path}.`);
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = /\.[mc]?tsx?$/.test(path)
      ? " TypeScript needs Node 22.18 or later; elsewhere name the compiled file."
      : "";
    throw usage(`${path} cannot be loaded: ${reason}.${hint}`);
  }
}

/** Returns an export of a module: the named one, or the default export. */
export function exportOf(module: Readonly<Record<string, unknown>>, name: string, path: string): unknown {
  const value = module[name] ?? module["default"];
  if (value === undefined) throw usage(`${path} exports neither ${name} nor a default.`);
  return value;
}
