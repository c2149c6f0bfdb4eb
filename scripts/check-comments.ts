import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Fails on comments that are hard to read for a newcomer: a sentence whose subject is a pronoun or a relative clause, and a
 * function's comment that does not begin with a verb in the third person. CONTRIBUTING.md has the rule with examples.
 */

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const folders = ["src", "test", "bench", "scripts", "examples"];
const riddle = /(?:^|[.!?:;]\s+|\n\s*)(What|Whatever|Those|Who|Whoever|Whose|The same|One)(?=\s)/;
const verb = /^(?:Invariant:|@\w+|[A-Z][a-z]+(?:s|es)\b)/;
/** A comment may keep its wording for a reason: `// plain-english: <reason>` on the line before it. */
const excepted = /\/\/ plain-english: \S/;

interface Comment {
  readonly line: number;
  readonly text: string;
  /** The first line of code after the comment. */
  readonly before: string;
  readonly isJsdoc: boolean;
}

/** Returns the comments of a module that begin a line; neighbouring `//` lines are one comment. */
function commentsOf(text: string): Comment[] {
  const lines = text.split("\n");
  const comments: Comment[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const start = index;
    const line = (lines[index] as string).trim();
    const parts: string[] = [];
    if (line.startsWith("/*")) {
      while (!(lines[index] as string).includes("*/") && index < lines.length - 1) parts.push(lines[index++] as string);
      parts.push(lines[index] as string);
    } else if (line.startsWith("//")) {
      while ((lines[index] ?? "").trim().startsWith("//")) parts.push(lines[index++] as string);
      index -= 1;
    } else continue;
    if (start > 0 && excepted.test(lines[start - 1] as string)) continue;
    const words = parts.map((part) =>
      part
        .trim()
        .replace(/^(?:\/\*\*?|\*\/|\*|\/\/)\s?/, "")
        .replace(/\s*\*\/$/, ""),
    );
    const before = lines[index + 1]?.trim() ?? "";
    comments.push({ line: start + 1, text: words.join(" ").trim(), before, isJsdoc: line.startsWith("/**") });
  }
  return comments;
}

const declaresFunction =
  /^(?:export )?(?:default )?(?:async )?function\b|^(?:static |async |override |get |set )*#?[A-Za-z]\w*(?:<[^(]*>)?\([^=]*\)?(?::.*)?\{$|^(?:export )?const \w+ = (?:async )?(?:<.*>)?\(/;
const isStatement = /^(?:if|for|while|switch|return|throw|await|catch|const|let|do)\b/;

const faults: string[] = [];
let count = 0;
for (const folder of folders) {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:ts|js|mjs)$/.test(path) || path.includes("node_modules")) continue;
    for (const { line, text, before, isJsdoc } of commentsOf(readFileSync(`${folder}/${path}`, "utf8"))) {
      if (/^(?:biome-ignore|plain-english:|@)/.test(text)) continue;
      count += 1;
      const place = `${folder}/${path}:${line}`;
      const found = riddle.exec(text);
      if (found) faults.push(`${place}: a sentence begins with "${found[1]}"; name its subject: ${text.slice(0, 90)}`);
      const isFunction =
        isJsdoc && declaresFunction.test(before) && !(isStatement.test(before) && !before.includes("=> "));
      if (isFunction && folder === "src" && !verb.test(text))
        faults.push(`${place}: begin with a verb, as in "Returns" or "Rewrites": ${text.slice(0, 90)}`);
    }
  }
}
for (const fault of faults) console.error(fault);
console.log(`${count} comments, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
