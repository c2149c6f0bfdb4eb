/* Markdown as a tree of plain data. Marks that it does not know stay text: nothing here ever becomes markup. */

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly parts: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly parts: readonly Inline[] };

export type Block =
  | { readonly kind: "paragraph"; readonly parts: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly parts: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly kind: "list";
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 6;

/** Parses a text as markdown. */
export function parseMarkdown(text: string): readonly Block[] {
  return blocksOf(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function blocksOf(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const end = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", parts: parseInline(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let index = 0; index < lines.length; ) {
    const line = lines[index]!;
    const block =
      depth < DEEPEST
        ? (fence(lines, index) ?? quote(lines, index, depth) ?? list(lines, index, depth) ?? table(lines, index))
        : undefined;
    if (block !== undefined) {
      end();
      blocks.push(block.block);
      index = block.next;
      continue;
    }
    const [, marks, title] = HEADING.exec(line) ?? [];
    if (marks !== undefined) {
      end();
      blocks.push({ kind: "heading", level: marks.length, parts: parseInline(title ?? "") });
    } else if (RULE.test(line)) {
      end();
      blocks.push({ kind: "rule" });
    } else if (line.trim() === "") end();
    else paragraph.push(line);
    index += 1;
  }
  end();
  return blocks;
}

interface Taken {
  readonly block: Block;
  /** The index of the line after the block. */
  readonly next: number;
}

function fence(lines: readonly string[], start: number): Taken | undefined {
  const [, mark, language = ""] = FENCE.exec(lines[start]!) ?? [];
  if (mark === undefined) return undefined;
  let end = start + 1;
  while (end < lines.length && !isClosing(lines[end]!, mark)) end += 1;
  return { block: { kind: "code", language, text: lines.slice(start + 1, end).join("\n") }, next: end + 1 };
}

function isClosing(line: string, mark: string): boolean {
  const text = line.trim();
  return text.length >= mark.length && text === mark[0]!.repeat(text.length);
}

function quote(lines: readonly string[], start: number, depth: number): Taken | undefined {
  const inside: string[] = [];
  let end = start;
  for (; end < lines.length; end += 1) {
    const found = QUOTE.exec(lines[end]!);
    if (found === null) break;
    inside.push(found[1]!);
  }
  return end === start ? undefined : { block: { kind: "quote", blocks: blocksOf(inside, depth + 1) }, next: end };
}

function list(lines: readonly string[], start: number, depth: number): Taken | undefined {
  const first = ITEM.exec(lines[start]!);
  if (first === null || RULE.test(lines[start]!)) return undefined;
  const indent = first[1]!.length;
  const ordered = /\d/.test(first[2]!);
  const items: string[][] = [];
  let end = start;
  for (; end < lines.length; end += 1) {
    const line = lines[end]!;
    const item = ITEM.exec(line);
    const isItem = item !== null && item[1]!.length <= indent + 1;
    if (isItem && item[1]!.length >= indent && /\d/.test(item[2]!) === ordered) items.push([item[3]!]);
    else if (isItem) break;
    else if (line.trim() === "") {
      const next = lines[end + 1];
      if (next === undefined || (!/^\s{2,}\S/.test(next) && ITEM.exec(next) === null)) break;
      items.at(-1)!.push("");
    } else if (/^\s/.test(line) || item !== null)
      items.at(-1)!.push(line.slice(Math.min(indent + 2, line.length - line.trimStart().length)));
    else if (items.at(-1)!.at(-1) === "") break;
    else items.at(-1)!.push(line);
  }
  const from = ordered ? Number.parseInt(first[2]!, 10) : 1;
  return {
    block: { kind: "list", ordered, start: from, items: items.map((item) => blocksOf(item, depth + 1)) },
    next: end,
  };
}

function table(lines: readonly string[], start: number): Taken | undefined {
  const divider = lines[start + 1];
  if (divider === undefined || !lines[start]!.includes("|") || !divider.includes("-") || !DIVIDER.test(divider))
    return undefined;
  const head = cells(lines[start]!);
  if (head.length !== cells(divider).length) return undefined;
  const rows: (readonly (readonly Inline[])[])[] = [];
  let end = start + 2;
  for (; end < lines.length && lines[end]!.includes("|"); end += 1) rows.push(cells(lines[end]!).map(parseInline));
  return { block: { kind: "table", head: head.map(parseInline), rows }, next: end };
}

function cells(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split("|")
    .map((cell) => cell.trim());
}

const INLINE =
  /`+[^`]|!?\[[^\]\n]{0,500}\]\([^()\s]{1,2000}\)|\*\*(?=\S)|__(?=\S)|~~(?=\S)|\*(?=[^\s*])|(?<![\w])_(?=[^\s_])|https?:\/\/[^\s<>"'`)\]]+/g;

/** Parses the marks inside a paragraph. */
function parseInline(text: string, depth = 0): readonly Inline[] {
  const parts: Inline[] = [];
  let from = 0;
  const plain = (to: number): void => {
    if (to > from) parts.push({ kind: "text", text: text.slice(from, to) });
  };
  for (const found of text.matchAll(INLINE)) {
    const at = found.index;
    if (at < from) continue;
    const taken = depth < DEEPEST ? inlineAt(text, at, found[0], depth) : undefined;
    if (taken === undefined) continue;
    plain(at);
    parts.push(taken.part);
    from = taken.next;
  }
  plain(text.length);
  return parts;
}

function inlineAt(text: string, at: number, mark: string, depth: number): { part: Inline; next: number } | undefined {
  if (mark.startsWith("`")) {
    const ticks = /^`+/.exec(mark)![0];
    const end = text.indexOf(ticks, at + ticks.length);
    return end < 0
      ? undefined
      : { part: { kind: "code", text: text.slice(at + ticks.length, end).trim() }, next: end + ticks.length };
  }
  if (mark.startsWith("[") || mark.startsWith("![")) {
    const [, title = "", href = ""] = /^!?\[([^\]]*)\]\(([^)]*)\)/.exec(mark) ?? [];
    const part: Inline = isWebAddress(href)
      ? { kind: "link", href, parts: parseInline(title, depth + 1) }
      : { kind: "text", text: mark };
    return { part, next: at + mark.length };
  }
  if (mark.startsWith("http")) {
    const href = mark.replace(/[.,;:!?]+$/, "");
    return isWebAddress(href)
      ? { part: { kind: "link", href, parts: [{ kind: "text", text: href }] }, next: at + href.length }
      : undefined;
  }
  const end = text.indexOf(mark, at + mark.length + 1);
  if (end < 0 || /\s/.test(text[end - 1]!) || text.slice(at, end).includes("\n\n")) return undefined;
  const kind = mark === "~~" ? "deleted" : mark.length === 2 ? "strong" : "emphasis";
  return { part: { kind, parts: parseInline(text.slice(at + mark.length, end), depth + 1) }, next: end + mark.length };
}

/** Tells whether an address may be linked to: no other scheme than the web's. */
function isWebAddress(href: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(href);
}
