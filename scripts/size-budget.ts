import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/**
 * The most that parts of the package may weigh, in bytes. A change that needs more raises the number in the same commit, so
 * that its cost is seen.
 */
export const budget = {
  /** The tarball that is downloaded. */
  tarball: 4_000_000,
  /** `import { open } from "threadmark"` bundled for a browser, minified and compressed. */
  core: 155_000,
} as const;

/** Returns what is over its budget. */
export async function overBudget(root: string, tarball: string): Promise<readonly string[]> {
  const sizes = { tarball: statSync(tarball).size, core: await coreSize(root) };
  return Object.entries(budget).flatMap(([name, most]) => {
    const size = sizes[name as keyof typeof budget];
    console.log(`${name}: ${size.toLocaleString("en")} of ${most.toLocaleString("en")} bytes`);
    return size > most
      ? [`${name} has ${size} bytes, its budget is ${most} (${relative(root, import.meta.filename)})`]
      : [];
  });
}

async function coreSize(root: string): Promise<number> {
  const bundle = await rolldown({
    input: join(root, "dist/index.js"),
    platform: "browser",
    external: [/^node:/],
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  // Chunks that are loaded when they are first needed do not count.
  const entry = output.filter((chunk) => chunk.type === "chunk" && (chunk.isEntry || !chunk.isDynamicEntry));
  return entry.reduce((sum, chunk) => sum + (chunk.type === "chunk" ? gzipSync(chunk.code).length : 0), 0);
}
