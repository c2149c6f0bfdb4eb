import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Checks that every link and picture of the built site leads to a file of it, and every anchor to an element. */
export function checkSite(output: string): { readonly links: number } {
  const faults: string[] = [];
  let links = 0;
  const ids = new Map<string, ReadonlySet<string>>();
  for (const page of globSync("**/*.html", { cwd: output })) {
    const html = readFileSync(join(output, page), "utf8");
    for (const [, target = ""] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^(?:[a-z]+:|\/\/)/i.test(target) || target === "") continue;
      links += 1;
      const [path = "", anchor] = decodeURIComponent(target.replaceAll("&amp;", "&")).split("#", 2);
      const file = fileOf(output, page, path);
      if (file === undefined) faults.push(`${page}: ${target}`);
      else if (anchor && file.endsWith(".html") && !idsOf(file).has(anchor))
        faults.push(`${page}: ${target} (no such heading)`);
    }
  }
  if (faults.length > 0) throw new Error(`Dead links in the site:\n${[...new Set(faults)].join("\n")}`);
  if (links < 100) throw new Error(`Only ${links} links were found: the check does not see the pages.`);
  return { links };

  function idsOf(file: string): ReadonlySet<string> {
    const known =
      ids.get(file) ?? new Set([...readFileSync(file, "utf8").matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id));
    ids.set(file, known);
    return known;
  }
}

/** Returns the file that a link of a page leads to; undefined if there is none. */
function fileOf(output: string, page: string, path: string): string | undefined {
  const base = path.startsWith("/") ? output : dirname(join(output, page));
  const found = path === "" ? join(output, page) : join(base, path);
  if (relative(output, found).startsWith("..")) return undefined;
  const candidates = [found, `${found}.html`, join(found, "index.html")];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}
