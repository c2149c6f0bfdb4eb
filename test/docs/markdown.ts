/** A fenced code block of a Markdown page. */
export interface Block {
  readonly language: string;
  /** The text after the language on the opening fence. */
  readonly info: string;
  /** The line number of the first line of code, from 1. */
  readonly line: number;
  readonly code: string;
}

/** Finds every fenced block, indented ones (in lists) and those with longer fences included. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const open = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)\s*(.*)$/.exec(lines[at] ?? "");
    if (open === null) continue;
    const [, indent = "", fence = "", language = "", info = ""] = open;
    const start = at + 1;
    at = start;
    while (at < lines.length && !closes(lines[at] ?? "", fence)) at += 1;
    if (at === lines.length) throw new Error(`line ${start}: the fence is never closed`);
    const code = lines.slice(start, at).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    blocks.push({ language, info: info.trim(), line: start + 1, code: code.join("\n") });
  }
  return blocks;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === (fence[0] ?? "").repeat(text.length);
}
