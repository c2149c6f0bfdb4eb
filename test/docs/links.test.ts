import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run.ts";

const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly files: readonly string[] };
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root }).sort()];

interface Target {
  /** Relative to the root. */
  readonly path: string;
  /** The anchor behind the `#`, or undefined. */
  readonly anchor: string | undefined;
}

const textOf = (page: string): string => readFileSync(join(root, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");

/** Returns the relative targets of a page's links and pictures. */
function targetsOf(page: string): Target[] {
  return [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#", 2);
      return { path: path === "" ? page : relative(root, join(root, dirname(page), path)), anchor };
    });
}

/** Returns the anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("every relative link and picture of %s leads to a file that is in the package", (page) => {
  const isPacked = (path: string): boolean => files.some((entry) => path === entry || path.startsWith(`${entry}/`));
  const broken = targetsOf(page).filter(
    ({ path }) => !existsSync(join(root, path)) || !(isPacked(path) || ["README.md", "LICENSE"].includes(path)),
  );
  expect(broken).toEqual([]);
});

test.each(pages)("every anchor that %s links to is a heading there", (page) => {
  const broken = targetsOf(page).filter(
    ({ path, anchor }) => anchor !== undefined && !anchorsOf(path).includes(anchor),
  );
  expect(broken).toEqual([]);
});
