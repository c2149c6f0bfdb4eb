import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** A file of the site: a page in Markdown, or a picture or other file that pages show. */
export interface Page {
  /** Relative to the site's root. */
  readonly path: string;
  readonly content: string | Buffer;
}

/** Pages outside docs/ that are part of the site. */
const project = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

const linkPattern = /(\]\()([^)\s]+)(\))/g;

/** Returns the pages of docs/, those of the project, and the examples as pages. Links follow. */
export function collectPages(root: string): Page[] {
  const docs = globSync("docs/**/*.*", { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  const examples = globSync("examples/**/*.{ts,md}", { cwd: root, exclude: ["**/node_modules/**"] });
  const placed = new Map([...docs, ...project, ...examples].sort().map((path) => [path, placeOf(path)]));
  return [...placed].map(([path, place]) => {
    const content = readFileSync(join(root, path));
    if (!place.endsWith(".md")) return { path: place, content };
    const text = content.toString();
    return {
      path: place,
      content: path.endsWith(".ts") ? programPage(path, text) : relinked(path, text, placed, root),
    };
  });
}

/** Returns where a file of the repository is in the site. */
function placeOf(path: string): string {
  if (project.includes(path)) return `project/${basename(path).toLowerCase()}`;
  if (path.startsWith("examples/")) return path.replace(/README\.md$/, "index.md").replace(/\.ts$/, ".md");
  return path.replace(/^docs\//, "").replace(/README\.md$/, "index.md");
}

/** Shows a program as a page, with its opening comment as the text. */
function programPage(path: string, code: string): string {
  const [, comment = ""] = /^\/\*\*\n([\s\S]*?) \*\/\n/.exec(code) ?? [];
  const text = comment.replaceAll(/^ \* ?/gm, "");
  return `# ${basename(path, ".ts")}\n\n${text}\n\`\`\`ts\n${code.slice(comment === "" ? 0 : code.indexOf("*/") + 3)}\`\`\`\n`;
}

/** Rewrites the relative links of a page to the places that their targets have in the site. */
function relinked(path: string, text: string, placed: ReadonlyMap<string, string>, root: string): string {
  const from = dirname(placed.get(path) as string);
  return text.replaceAll(linkPattern, (all, open: string, target: string, close: string) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return all;
    const [file = "", anchor] = target.split("#", 2);
    const linked = join(dirname(path), file);
    const place = placed.get(existsSync(join(root, linked, "README.md")) ? join(linked, "README.md") : linked);
    // README.md of the repository is the front of the registry's page; in the site the index of the documentation is.
    const found = place ?? (linked === "README.md" ? "index.md" : undefined);
    if (found === undefined) throw new Error(`${path} links to ${target}, which is not part of the site`);
    const moved = relative(from, found);
    return `${open}${moved.startsWith(".") ? moved : `./${moved}`}${anchor === undefined ? "" : `#${anchor}`}${close}`;
  });
}

/** Returns the first heading of a page. */
export function titleOf({ path, content }: Page): string {
  const [, title = path] = /^# (.+)$/m.exec(content.toString()) ?? [];
  return title.replaceAll("`", "").replaceAll("\\", "");
}
