import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export interface Asset {
  readonly body: Buffer;
  readonly type: string;
  readonly tag: string;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Returns all files of the page by their path. They are read once and looked up by exact path: no path of a request
 * ever reaches the file system.
 */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const page = fileURLToPath(new URL("../page/", import.meta.url));
  for (const entry of readdirSync(page, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || types[extname(entry.name)] === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    add(relative(page, file).replaceAll(sep, "/"), readFileSync(file));
  }
  // The library comes from node_modules. Its modules import each other by package name, which only a bundler
  // understands.
  for (const [name, file] of libraryFiles()) {
    const text = readFileSync(file, "utf8").replaceAll(/\bfrom\s*"preact"/g, 'from"./preact.js"');
    add(`library/${name}.js`, Buffer.from(text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n")));
  }
  return assets;

  function add(path: string, body: Buffer): void {
    const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    assets.set(path === "index.html" ? "/" : `/${path}`, { body, type: types[extname(path)]!, tag });
  }
}

function libraryFiles(): readonly (readonly [name: string, file: string])[] {
  const { resolve } = createRequire(import.meta.url);
  return [
    ["preact", resolve("preact")],
    ["hooks", resolve("preact/hooks")],
    // Node would load a CommonJS module; the module for browsers lies beside it.
    ["htm", join(dirname(resolve("htm")), "htm.module.js")],
  ];
}
