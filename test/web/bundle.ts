import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildForTheWeb } from "../../scripts/web-build.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Bundles a module of the repository for the web, into a new folder inside it, and returns that folder. */
export async function bundled(module: string, external: readonly string[] = []): Promise<string> {
  const parent = join(root, "node_modules/.cache/web");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "build-"));
  await buildForTheWeb({ main: join(root, module) }, folder, external);
  return folder;
}
