import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, type Inline, parseMarkdown } from "../../../src/inspector/page/parts/markdown.ts";

const inline = (text: string): readonly Inline[] => {
  const [block] = parseMarkdown(text);
  return block?.kind === "paragraph" ? block.parts : [];
};

test("marks inside a paragraph", () => {
  expect(inline("a **b _c_** `d*` ~~e~~")).toMatchObject([
    { kind: "text", text: "a " },
    { kind: "strong", parts: [{ text: "b " }, { kind: "emphasis", parts: [{ text: "c" }] }] },
    { text: " " },
    { kind: "code", text: "d*" },
    { text: " " },
    { kind: "deleted", parts: [{ text: "e" }] },
  ]);
  expect(inline("snake_case_name and 2 * 3 * 4")).toEqual([{ kind: "text", text: "snake_case_name and 2 * 3 * 4" }]);
});

test("only the web's addresses are links", () => {
  expect(inline("[a](https://x.org/y) https://z.org.")).toMatchObject([
    { kind: "link", href: "https://x.org/y", parts: [{ text: "a" }] },
    { text: " " },
    { kind: "link", href: "https://z.org" },
    { text: "." },
  ]);
  for (const href of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil", "JAVASCRIPT:x"])
    expect(inline(`[a](${href})`).every(({ kind }) => kind === "text")).toBe(true);
});

test("blocks: headings, lists, code, quotes, tables, rules", () => {
  const text =
    "# Title\n\n- one\n  - inner\n- two\n\n3. three\n\n```js\nlet a = 1;\n```\n> quoted\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n---\nend";
  expect(parseMarkdown(text).map(({ kind }) => kind)).toEqual([
    "heading",
    "list",
    "list",
    "code",
    "quote",
    "table",
    "rule",
    "paragraph",
  ]);
  const [, list, ordered, code] = parseMarkdown(text);
  expect(list).toMatchObject({
    ordered: false,
    items: [[{ kind: "paragraph" }, { kind: "list" }], [{ kind: "paragraph" }]],
  });
  expect(ordered).toMatchObject({ ordered: true, start: 3 });
  expect(code).toEqual({ kind: "code", language: "js", text: "let a = 1;" });
});

test("no text is lost or made slow, whatever it is", () => {
  const words = (blocks: readonly Block[]): string => JSON.stringify(blocks).replaceAll(/[^a-z]/g, "");
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "*", "_", "`", "[", "]", "(", ")", "\n", "-", ">", "|", "#", " ", "~", "1."), {
        maxLength: 60,
      }),
      (parts) => {
        const text = parts.join("");
        const before = performance.now();
        const blocks = parseMarkdown(text);
        expect(performance.now() - before).toBeLessThan(500);
        expect(words(blocks).split("a").length).toBeGreaterThanOrEqual(
          text.split("a").length - (text.match(/```[^\n]*a/g)?.length ?? 0) * 60,
        );
      },
    ),
  );
  for (const text of [
    "*".repeat(20_000),
    "[".repeat(20_000),
    "`".repeat(20_000),
    "> ".repeat(5_000),
    "_a".repeat(10_000),
    "| ".repeat(10_000),
  ]) {
    const before = performance.now();
    parseMarkdown(text);
    expect(performance.now() - before).toBeLessThan(2_000);
  }
});
