import type { Delta } from "../format.ts";
import { digits, startsWith } from "../measure.ts";
import { type NodeDiff, replaced } from "../node-diff.ts";
import { commonRuns } from "./common-runs.ts";

type TextSplice = NonNullable<Delta["t"]>[number];

/** Shorter strings are replaced, since an edit would be no smaller. */
const shortest = 32;
/** Texts whose differing parts are at least this long are compared line by line. */
const worthLines = 128;

/** Compares two strings that differ. */
export function diffText(before: string, after: string): NodeDiff {
  if (before.length < shortest || after.length < shortest) return replaced;
  if (after.length > before.length && startsWith(after, before) && !cuts(after, before.length)) {
    return { delta: { a: after.slice(before.length) }, gain: before.length - 6, exact: true };
  }
  const splices: TextSplice[] = [];
  const outer = trimmed(before, after, 0);
  const [start, removed, text] = outer;
  if (removed >= worthLines && text.length >= worthLines) {
    spliceLines(before.slice(start, start + removed), text, start, splices);
  } else {
    splices.push(outer);
  }
  let gain = after.length - 12 - digits(before.length);
  for (const splice of splices) gain -= splice[2].length + 7 + digits(splice[0]) + digits(splice[1]);
  return gain > 0 ? { delta: { l: before.length, t: splices }, gain, exact: true } : replaced;
}

/** Adds a splice for each run of lines that differ, trimmed to the characters that differ. */
function spliceLines(before: string, after: string, offset: number, splices: TextSplice[]): void {
  const beforeLines = linesWithEnds(before);
  const afterLines = linesWithEnds(after);
  const end = { before: beforeLines.length, after: afterLines.length, count: 0 };
  let atBefore = 0;
  let atAfter = 0;
  let position = offset;
  for (const match of [...commonRuns(beforeLines, afterLines), end]) {
    const oldText = beforeLines.slice(atBefore, match.before).join("");
    const newText = afterLines.slice(atAfter, match.after).join("");
    if (oldText !== newText) splices.push(trimmed(oldText, newText, position));
    position += oldText.length;
    for (let index = match.before; index < match.before + match.count; index++) position += beforeLines[index]!.length;
    atBefore = match.before + match.count;
    atAfter = match.after + match.count;
  }
}

/** Splits a text into lines with their line ends, so that joining them gives the text. */
function linesWithEnds(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  // Searching for the ends takes a hundredth of the time of a regular expression.
  for (let end = text.indexOf("\n") + 1; end > 0 && end < text.length; end = text.indexOf("\n", start) + 1) {
    lines.push(text.slice(start, end));
    start = end;
  }
  lines.push(text.slice(start));
  return lines;
}

/** Returns the splice that turns one text into the other, without their common prefix and suffix. */
function trimmed(before: string, after: string, offset: number): TextSplice {
  const limit = Math.min(before.length, after.length);
  let prefix = commonPrefix(before, after, limit);
  if (cuts(before, prefix) || cuts(after, prefix)) prefix--;
  let suffix = commonSuffix(before, after, limit - prefix);
  if (cuts(before, before.length - suffix) || cuts(after, after.length - suffix)) suffix--;
  return [offset + prefix, before.length - prefix - suffix, after.slice(prefix, after.length - suffix)];
}

/** Tells whether a cut at this position would split a surrogate pair. */
function cuts(text: string, position: number): boolean {
  const high = text.charCodeAt(position - 1);
  const low = text.charCodeAt(position);
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

/** Texts that have little in common mostly differ within so many units: these are compared one by one. */
const near = 16;

/** Returns the length of the common prefix. Bisects, since V8 compares slices natively and single units slowly. */
function commonPrefix(one: string, other: string, limit: number): number {
  let low = 0;
  for (const end = Math.min(near, limit); low < end; low++) {
    if (one.charCodeAt(low) !== other.charCodeAt(low)) return low;
  }
  let high = limit;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (one.slice(low, middle) === other.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function commonSuffix(one: string, other: string, limit: number): number {
  const part = (text: string, from: number, to: number): string => text.slice(text.length - to, text.length - from);
  let low = 0;
  for (const end = Math.min(near, limit); low < end; low++) {
    if (one.charCodeAt(one.length - 1 - low) !== other.charCodeAt(other.length - 1 - low)) return low;
  }
  let high = limit;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (part(one, low, middle) === part(other, low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
