import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Page } from "./pages.ts";

/** The entry points of the package, by the name that programs import. */
const entries: Readonly<Record<string, string>> = {
  threadmark: "src/index.ts",
  "threadmark/sqlite": "src/backends/sqlite/index.ts",
  "threadmark/postgres": "src/backends/postgres/index.ts",
  "threadmark/file": "src/backends/file/index.ts",
  "threadmark/runtime": "src/runtime/index.ts",
  "threadmark/langgraph": "src/langgraph/index.ts",
  "threadmark/otel": "src/otel/index.ts",
  "threadmark/testing": "src/testing/index.ts",
};

/**
 * Generates the API reference from the sources. typedoc brings a TypeScript of its own: it does not run with the version that
 * compiles the package. Each entry point has a page with everything that it exports.
 */
export function generateApi(root: string, site: string): Page[] {
  const out = join(site, ".api");
  const settings = join(site, ".typedoc.json");
  rmSync(out, { recursive: true, force: true });
  writeFileSync(
    settings,
    JSON.stringify({
      entryPoints: Object.values(entries).map((entry) => join(root, entry)),
      tsconfig: join(root, "tsconfig.json"),
      plugin: ["typedoc-plugin-markdown"],
      out,
      router: "module",
      readme: "none",
      hideGenerator: true,
      hidePageHeader: true,
      hideBreadcrumbs: true,
      disableSources: true,
      excludeInternal: true,
      excludePrivate: true,
      skipErrorChecking: true,
      validation: false,
      logLevel: "Error",
      useCodeBlocks: true,
      parametersFormat: "table",
      interfacePropertiesFormat: "table",
    }),
  );
  execFileSync(process.execPath, [join(site, "node_modules/typedoc/bin/typedoc"), "--options", settings], {
    cwd: site,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const texts = new Map(
    globSync("**/*.md", { cwd: out })
      .sort()
      .map((path) => [path, readFileSync(join(out, path), "utf8")] as const),
  );
  const anchors = new Map([...texts].map(([path, text]) => [path, anchorsOf(text)] as const));
  return [...texts].map(([path, text]) => ({
    path: join("reference/api", placeOf(path)),
    content: renamed(path, withKnownAnchors(path, text, anchors)),
  }));
}

/** Returns the place of a generated page: the overview is the index, and the page of the package itself has its name. */
function placeOf(path: string): string {
  if (path === "README.md") return "index.md";
  return path === "index.md" ? "threadmark.md" : path;
}

/** Returns the anchors of a page: of its headings, the second of a name with a number, and those in its tables. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)"/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.matchAll(/^#+ (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .trim()
      .replaceAll(" ", "-");
    let anchor = name;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${name}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Takes the number off anchors, also of other pages, that no heading has: typedoc counts some names that are no headings. */
function withKnownAnchors(path: string, text: string, anchors: ReadonlyMap<string, ReadonlySet<string>>): string {
  return text.replaceAll(/\]\(([\w./-]*)#([\w-]+?)(-\d+)\)/g, (all, page: string, name: string, number: string) => {
    const known = anchors.get(page === "" ? path : posix.join(posix.dirname(path), page));
    return known === undefined || known.has(`${name}${number}`) ? all : `](${page}#${name})`;
  });
}

/** Gives a page the name that programs import, and its links the new places. */
function renamed(path: string, text: string): string {
  const source = `src/${path.replace(/\.md$/, "")}`;
  const entry = Object.entries(entries).find(([, file]) => file === `${source}.ts` || file === `${source}/index.ts`);
  const linked = text
    .replaceAll(/\]\(((?:\.\.\/)*)index\.md/g, "]($1threadmark.md")
    .replaceAll(/\]\(((?:\.\.\/)*)README\.md/g, "]($1index.md");
  if (entry !== undefined) return linked.replace(/^# .*/, `# ${entry[0]}`);
  return path === "README.md" ? `# API\n\n${Object.entries(entries).map(overviewOf).join("\n")}\n` : linked;
}

function overviewOf([name, source]: readonly [string, string]): string {
  const path = placeOf(`${source.replace(/^src\//, "").replace(/(?<=.)\/index\.ts$|\.ts$/, "")}.md`);
  return `- [\`${name}\`](./${path})`;
}
