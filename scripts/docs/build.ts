import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateApi } from "./api.ts";
import { checkSite } from "./check-site.ts";
import { llmsText } from "./llms.ts";
import { collectPages, type Page } from "./pages.ts";
import { sidebarOf } from "./sidebar.ts";

/**
 * Builds the documentation site from docs/ into docs-site/dist: `npm run docs`. Its tools are a package of their own with a
 * lock file, so that installing the repository stays fast.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const site = join(root, "docs-site");
const source = join(site, ".pages");
const output = join(site, "dist");

installTools();
for (const folder of [source, output]) rmSync(folder, { recursive: true, force: true });
const pages = [...collectPages(root), ...generateApi(root, site)];
for (const page of pages) write(join(source, page.path), page.content);
write(join(source, "sidebar.json"), JSON.stringify(sidebarOf(pages), undefined, 2));
run("node_modules/vitepress/bin/vitepress.js", "build", ".");
publishText(pages);
const { links } = checkSite(output);
const count = pages.filter(({ path }) => path.endsWith(".md")).length;
console.log(`docs-site/dist has ${count} pages; their ${links} links lead somewhere`);

/** Installs the site's tools, unless those of the lock file are there. */
function installTools(): void {
  const installed = join(site, "node_modules/.package-lock.json");
  const isFresh =
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(site, "package-lock.json")).mtimeMs;
  if (isFresh) return;
  // esbuild's install script only replaces its command by a faster one.
  execFileSync("npm", ["install", "--no-save", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: site,
    stdio: "inherit",
  });
}

function run(script: string, ...parameters: readonly string[]): void {
  execFileSync(process.execPath, [join(site, script), ...parameters], {
    cwd: site,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Puts every page beside its HTML as plain Markdown, and an index for language models at the top. */
function publishText(all: readonly Page[]): void {
  for (const { path, content } of all) write(join(output, path), content);
  const { short, full } = llmsText(all, readFileSync(join(root, "README.md"), "utf8"));
  write(join(output, "llms.txt"), short);
  write(join(output, "llms-full.txt"), full);
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
