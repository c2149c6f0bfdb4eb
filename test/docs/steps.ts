import { type Block, blocksOf } from "./markdown.ts";

/** A unit of a page that is run: a program of one or more blocks, or a shell script. */
export interface Step {
  readonly kind: "ts" | "js" | "sh";
  /** The line of its first block, from 1. */
  readonly line: number;
  readonly code: string;
}

const executed = new Set(["ts", "js", "sh", "diff"]);
/** Languages that hold no code of ours. Anything else is refused, so that no block escapes under another name. */
const shown = new Set(["text", "json", "jsonl", "sql", "mermaid"]);

/** Commands that a shell script may not start with: they would install, publish or leave the page's folder. */
const installs = /^\s*(?:sudo\s+)?(?:npm|npx|pnpm|yarn|git|apt-get|brew|docker|cd)\b/m;

/**
 * Turns a page into the steps that run it. A block with an import starts a program; a block without one goes on where the
 * program above it left off. A diff is run as it reads afterwards. Each line keeps its number in the page, so that an error
 * points there.
 */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  let program: { kind: "ts" | "js"; line: number; code: string } | undefined;
  for (const block of blocksOf(markdown)) {
    refuseUnknown(block);
    if (shown.has(block.language)) continue;
    if (block.language === "sh") {
      if (!installs.test(block.code)) steps.push({ kind: "sh", line: block.line, code: block.code });
      continue;
    }
    const kind = block.language === "ts" ? "ts" : "js";
    if (program === undefined || program.kind !== kind || /^[\s+]*import\b/m.test(block.code)) {
      program = { kind, line: block.line, code: "" };
      steps.push(program);
    }
    const written = program.code.split("\n").length;
    program.code += "\n".repeat(block.line - written) + (block.language === "diff" ? afterwards(block) : block.code);
  }
  return steps;
}

/** Returns the program that a diff leads to, its lines where they were. */
function afterwards({ code, line }: Block): string {
  return code
    .split("\n")
    .map((text, index) => {
      if (!/^(?:[ +-]|$)/.test(text))
        throw new Error(`line ${line + index}: a line of a diff begins with +, - or a space`);
      return text.startsWith("-") ? "" : text.slice(1);
    })
    .join("\n");
}

function refuseUnknown(block: Block): void {
  if (block.language === "") throw new Error(`line ${block.line}: the block names no language; use text if it is none`);
  if (executed.has(block.language)) {
    if (block.info === "") return;
    throw new Error(`line ${block.line}: "${block.info}" after ${block.language}: every such block is run as it is`);
  }
  if (!shown.has(block.language)) {
    const known = [...executed, ...shown].join(", ");
    throw new Error(`line ${block.line}: ${block.language} is not one of ${known}`);
  }
}
