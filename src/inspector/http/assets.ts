import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

export interface Asset {
  readonly body: Buffer;
  readonly type: string;
  readonly tag: string;
  /** True if the name changes with the content, so that browsers may keep the file. */
  readonly lasting: boolean;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

let loaded: Promise<ReadonlyMap<string, Asset>> | undefined;

/**
 * Returns all files of the page by their path. They are read once and looked up by exact path: no path of a request
 * ever reaches the file system.
 */
export function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  loaded ??= read();
  return loaded;
}

async function read(): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const [name, text] of await pageFiles()) {
    const body = Buffer.from(text);
    const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const lasting = /-\w{12}\.(?:js|css)$/.test(name);
    assets.set(name === "index.html" ? "/" : `/${name}`, { body, type: types[extname(name)]!, tag, lasting });
  }
  return assets;
}

/** Returns the files that the package was built with. In a checkout, where only their sources are, they are built now. */
async function pageFiles(): Promise<ReadonlyMap<string, string>> {
  const page = fileURLToPath(new URL("../page/", import.meta.url));
  if (existsSync(`${page}main.tsx`)) {
    const builder = new URL("../../../scripts/bundle-page.ts", import.meta.url).href;
    return ((await import(builder)) as { bundlePage: () => Promise<ReadonlyMap<string, string>> }).bundlePage();
  }
  const names = readdirSync(page).filter((name) => types[extname(name)] !== undefined);
  return new Map(names.map((name) => [name, readFileSync(`${page}${name}`, "utf8")]));
}
