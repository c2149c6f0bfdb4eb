import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Builds the package, packs it into an empty folder and returns the tarball's path. */
export function packInto(folder: string): string {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { stdio: ["ignore", "inherit", "inherit"] });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack left no tarball");
  return join(folder, tarball);
}
