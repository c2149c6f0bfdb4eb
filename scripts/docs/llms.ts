import { type Page, titleOf } from "./pages.ts";

/**
 * Returns the index for language models (llms.txt: a title, a summary, links to the plain pages by section) and all pages in one
 * text.
 */
export function llmsText(pages: readonly Page[], readme: string): { readonly short: string; readonly full: string } {
  const [, summary = ""] = /^# Threadmark\n\n([\s\S]*?)\n\n/.exec(readme) ?? [];
  const texts = pages.filter(({ path }) => path.endsWith(".md"));
  const sections = [
    { title: "Tutorials", start: /^tutorials\// },
    { title: "Guides", start: /^guides\// },
    { title: "Reference", start: /^(?:reference\/(?!api)|upgrading)/ },
    { title: "Explanation", start: /^explanation\/(?!decisions)/ },
    { title: "API", start: /^reference\/api\// },
    { title: "Optional", start: /^(?:examples|project|explanation\/decisions)\// },
  ];
  const lists = sections.map(({ title, start }) => {
    const links = texts.filter(({ path }) => start.test(path)).map((page) => `- [${titleOf(page)}](${page.path})`);
    return `## ${title}\n\n${links.join("\n")}`;
  });
  const short = `# Threadmark\n\n> ${summary.replaceAll("\n", " ")}\n\n${lists.join("\n\n")}\n`;
  const shown = texts.filter(({ path }) =>
    /^(?:tutorials|guides|reference\/(?!api)|explanation\/(?!decisions))/.test(path),
  );
  const full = shown.map(({ path, content }) => `<!-- ${path} -->\n\n${content.toString().trim()}\n`).join("\n");
  return { short, full: `${readme.trim()}\n\n${full}` };
}
