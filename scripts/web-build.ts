import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Plugin, rolldown } from "rolldown";

/** A module with a twin in a folder `web` beside it is replaced by that twin. */
const twins: Plugin = {
  name: "web-twins",
  async resolveId(source, importer, options) {
    if (importer === undefined || !source.startsWith(".")) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    if (found === null || !found.id.includes("/src/") || dirname(importer).endsWith("/web")) return found;
    const twin = join(dirname(found.id), "web", basename(found.id));
    return existsSync(twin) ? twin : found;
  },
};

/** Globals and modules that browsers and workers lack. */
const ofNode = /\b(?:process\.|Buffer\.|require\(|setImmediate\(|from "node:|import\("node:|getBuiltinModule).*/;

/**
 * Bundles modules for browsers and workers. `external` names the modules that stay imports: tests leave `node:assert`
 * outside.
 */
export async function buildForTheWeb(
  input: Readonly<Record<string, string>>,
  dir: string,
  external: readonly string[] = [],
): Promise<void> {
  const bundle = await rolldown({
    input,
    platform: "browser",
    plugins: [twins],
    external: [...external],
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.write({
    dir,
    format: "esm",
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: false } },
    // A single shared file: the bundler of an application takes from it the parts that it needs.
    codeSplitting: { groups: [{ name: "core", test: /\/src\/(?!runtime\/|testing\/|index\.ts)/ }] },
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name]-[hash].js",
  });
  for (const file of output) {
    if (file.type !== "chunk" || external.length > 0) continue;
    const found = ofNode.exec(file.code);
    if (found) throw new Error(`The web build of ${file.name} needs Node: ${found[0].slice(0, 100)}`);
  }
}
