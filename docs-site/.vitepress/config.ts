import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

// Written by scripts/docs/build.ts, together with the pages.
const sidebar = JSON.parse(readFileSync(new URL("../.pages/sidebar.json", import.meta.url), "utf8"));

/** Gives headings the anchors that forges give them, so that links work in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

export default defineConfig({
  title: "Threadmark",
  description: "A TypeScript library that saves the state of an agent or a workflow at every step.",
  lang: "en",
  srcDir: ".pages",
  outDir: "dist",
  cleanUrls: false,
  // The folder of the site at its address.
  base: process.env.DOCS_BASE ?? "/",
  lastUpdated: false,
  markdown: { anchor: { slugify } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Tutorial", link: "/tutorials/first-store" },
      { text: "Concepts", link: "/explanation/concepts" },
      { text: "API", link: "/reference/api/" },
      { text: "Errors", link: "/reference/errors" },
    ],
  },
});
