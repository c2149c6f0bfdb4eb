import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run.ts";

const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly files: readonly string[] };
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root }).sort()];

/** Returns the relative targets of a page's links and pictures, without their anchors. */
function targetsOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
    .map((target) => relative(root, join(root, dirname(page), target)));
}

test.each(pages)("every relative link and picture of %s leads to a file that is in the package", (page) => {
  const isPacked = (path: string): boolean => files.some((entry) => path === entry || path.startsWith(`${entry}/`));
  const broken = targetsOf(page).filter(
    (target) => !existsSync(join(root, target)) || !(isPacked(target) || ["README.md", "LICENSE"].includes(target)),
  );
  expect(broken).toEqual([]);
});
