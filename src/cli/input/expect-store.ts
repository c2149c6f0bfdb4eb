import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { exitCodes, Failure } from "../failure.ts";
import { printable } from "../output/printable.ts";

/**
 * Fails where a store on this machine's disk would have to be and is not. To the library that is a store with nothing in
 * it yet; to someone who asks what is in it, most likely a misspelt path.
 */
export function expectStore(url: string): void {
  const [, kind, path = ""] = /^(sqlite|file):(.+)$/s.exec(url) ?? [];
  if (kind === undefined || (kind === "sqlite" && path === ":memory:") || existsSync(path)) return;
  const what = kind === "sqlite" ? "file" : "directory";
  const message = `There is no ${what} ${printable(resolve(path))}. Check the path: the first write to a store makes it.`;
  throw new Failure(exitCodes.notFound, "NOT_FOUND", message);
}
