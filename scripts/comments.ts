interface Comment {
  readonly line: number;
  readonly text: string;
  /** The first line of code after the comment. */
  readonly code: string;
  readonly isJsdoc: boolean;
}

export interface CommentFault {
  readonly line: number;
  readonly message: string;
}

const riddle =
  /(?:^|[.!?:;]\s+)(What|Whatever|Those|Who|Whoever|Whose|The same|One|So many|So much|As many|As much|Of which|All that)(?=\s)/;
const verb = /^(?:Invariant:|@\w+|[A-Z][a-z]+(?:s|es)\b)/;
/** A comment may keep its wording for a reason: `// plain-english: <reason>` on the line before it. */
const excepted = /\/\/ plain-english: \S/;

const declaresFunction =
  /^(?:export )?(?:default )?(?:async )?function\b|^(?:(?:public|protected|private|static|async|override|get|set) )*#?[A-Za-z]\w*(?:<[^(]*>)?\([^=]*\)?(?::.*)?\{$|^(?:export )?const \w+(?:: [\w<>[\], ]+)? = (?:async )?(?:<.*>)?(?:\([^()]*\)(?:: [^=]+)? =>|\($|\w+ =>)/;
const isStatement = /^(?:if|for|while|switch|return|throw|await|catch|let|do)\b/;

/**
 * Returns the comments of a module that are hard to read for a newcomer: a sentence whose subject is a pronoun or a relative
 * clause, and, with `verbs`, a function's comment that does not begin with a verb in the third person. CONTRIBUTING.md has
 * the rule with examples.
 */
export function commentFaults(
  text: string,
  verbs: boolean,
): { readonly count: number; readonly faults: CommentFault[] } {
  const faults: CommentFault[] = [];
  const comments = commentsOf(text).filter((comment) => !/^(?:biome-ignore|plain-english:|@)/.test(comment.text));
  for (const { line, text: words, code, isJsdoc } of comments) {
    const shown = words.slice(0, 90);
    const found = riddle.exec(words);
    if (found) faults.push({ line, message: `a sentence begins with "${found[1]}"; name its subject: ${shown}` });
    const isFunction = isJsdoc && declaresFunction.test(code) && !isStatement.test(code);
    if (verbs && isFunction && !verb.test(words))
      faults.push({ line, message: `begin with a verb, as in "Returns" or "Rewrites": ${shown}` });
  }
  return { count: comments.length, faults };
}

/** Returns the comments of a module that begin a line; neighbouring `//` lines are a single comment. */
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
    const code = lines[index + 1]?.trim() ?? "";
    comments.push({ line: start + 1, text: words.join(" ").trim(), code, isJsdoc: line.startsWith("/**") });
  }
  return comments;
}
