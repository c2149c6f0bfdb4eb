import { spawnSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const built = `${root}dist/index.js`;

/** The built package, which is what users load: built now if it is older than its sources. Its url. */
export function builtPackage(): string {
  const since = existsSync(built) ? statSync(built).mtimeMs : 0;
  const newest = Math.max(...globSync(`${root}src/**/*.ts`).map((path) => statSync(path).mtimeMs));
  if (newest > since) {
    const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
    if (status !== 0) throw new Error("npm run build failed.");
  }
  return pathToFileURL(built).href;
}
