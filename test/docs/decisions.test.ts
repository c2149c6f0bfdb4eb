import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run.ts";

const folder = join(root, "docs/explanation/decisions");
const pages = globSync("*.md", { cwd: folder })
  .filter((page) => page !== "README.md")
  .sort();
const read = (page: string): string => readFileSync(join(folder, page), "utf8");

test("the index of decisions links every page", () => {
  const linked = [...read("README.md").matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => page);
  expect(linked.sort()).toEqual(pages);
});

test.each(pages)("the decision %s says its outcome, and what, measured, why and when to look again", (page) => {
  const text = read(page);
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(text).toMatch(/^\*\*Outcome: /m);
  expect(headings).toEqual(["What", "Measured", "Why", "Look again"]);
});
