import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CommandFailure, exitCodes } from "../failure.ts";
import { printable } from "../output/printable.ts";

/**
 * Fails where a store on this machine's disk does not exist. The library treats that as an empty store; a user who asks
 * about its contents most likely misspelt the path.
 */
export function expectStore(url: string): void {
  const [, kind, path = ""] = /^(sqlite|file):(.+)$/s.exec(url) ?? [];
  if (kind === undefined || (kind === "sqlite" && path === ":memory:") || existsSync(path)) return;
  const what = kind === "sqlite" ? "file" : "directory";
  const message = `There is no ${what} ${printable(resolve(path))}. Check the path: the first write to a store makes it.`;
  throw new CommandFailure(exitCodes.notFound, "NOT_FOUND", message);
}
