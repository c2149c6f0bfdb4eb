import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

/**
 * Lets `node --import ./scripts/resolve-sources.ts program.ts` run a program that imports `threadmark` on the sources,
 * without a build. It follows package.json's own exports, so an entry point that is not exported is not found here
 * either.
 */
const root = new URL("../", import.meta.url);
const manifest: { name: string; exports: Record<string, string | { default: string }> } = JSON.parse(
  readFileSync(new URL("package.json", root), "utf8"),
);

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== manifest.name && !specifier.startsWith(`${manifest.name}/`))
      return nextResolve(specifier, context);
    const target = manifest.exports[`.${specifier.slice(manifest.name.length)}`];
    if (target === undefined || typeof target === "string") return nextResolve(specifier, context);
    const source = target.default.replace("./dist/", "./src/").replace(/\.js$/, ".ts");
    return nextResolve(new URL(source, root).href, context);
  },
});
