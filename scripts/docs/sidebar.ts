import { join } from "node:path";
import { type Page, titleOf } from "./pages.ts";

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

/**
 * Makes the sidebar of the index's own sections: each heading is a group, each link of a list a page. Pages of docs that the
 * index does not link come last.
 */
export function sidebarOf(pages: readonly Page[]): readonly Item[] {
  const index = pages.find(({ path }) => path === "index.md");
  if (index === undefined) throw new Error("docs/README.md is missing");
  const [, ...sections] = index.content.toString().split(/^## /m);
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const listed = new Set(["index.md"]);
  const groups = sections.map((section): Item => {
    const [heading = ""] = section.split("\n", 1);
    const targets = [...section.matchAll(/\]\(([^)#\s]+\.md)\)/g)].map(([, target = ""]) => join(target));
    const items = targets.map((target): Item => {
      const page = byPath.get(target);
      if (page === undefined) throw new Error(`The index links to ${target}, which is no page`);
      listed.add(target);
      return itemOf(page);
    });
    return { text: heading.split(":")[0] ?? heading, items };
  });
  const isOfFolder = /^(?:explanation\/decisions|reference\/api|project|examples)\//;
  const forgotten = pages.filter(({ path }) => path.endsWith(".md") && !isOfFolder.test(path) && !listed.has(path));
  const more: Item = { text: "More", collapsed: true, items: forgotten.map(itemOf) };
  return [
    ...groups,
    folder("Programs", "examples/"),
    folder("API", "reference/api/"),
    folder("Project", "project/"),
    ...(forgotten.length > 0 ? [more] : []),
  ];

  function folder(text: string, start: string): Item {
    const inside = pages.filter(({ path }) => path.startsWith(start) && path.endsWith(".md"));
    return { text, collapsed: true, items: inside.map(itemOf) };
  }
}

function itemOf(page: Page): Item {
  return { text: titleOf(page), link: `/${page.path.replace(/(?:index)?\.md$/, "")}` };
}
