import { type Change, replaced } from "../change.ts";
import type { Delta } from "../format.ts";
import { digits, startsWith } from "../measure.ts";
import { align } from "./align-elements.ts";

type TextSplice = NonNullable<Delta["t"]>[number];

/** Shorter strings are replaced: an edit would not be smaller. */
const shortest = 32;
/** From this length on, what differs is looked at line by line. */
const worthLines = 128;

/** How one string became another, different one. */
export function diffText(before: string, after: string): Change {
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

/** Adds a splice for every place where the lines of two texts differ, cut down to what differs within the lines. */
function spliceLines(before: string, after: string, offset: number, splices: TextSplice[]): void {
  const beforeLines = linesOf(before);
  const afterLines = linesOf(after);
  const end = { before: beforeLines.length, after: afterLines.length, count: 0 };
  let atBefore = 0;
  let atAfter = 0;
  let position = offset;
  for (const match of [...align(beforeLines, afterLines), end]) {
    const oldText = beforeLines.slice(atBefore, match.before).join("");
    const newText = afterLines.slice(atAfter, match.after).join("");
    if (oldText !== newText) splices.push(trimmed(oldText, newText, position));
    position += oldText.length;
    for (let index = match.before; index < match.before + match.count; index++) position += beforeLines[index]!.length;
    atBefore = match.before + match.count;
    atAfter = match.after + match.count;
  }
}

/** Lines with their line ends, so that joined they give the text again. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** The splice that turns one text into the other, without what they have in common at both ends. */
function trimmed(before: string, after: string, offset: number): TextSplice {
  const limit = Math.min(before.length, after.length);
  let prefix = commonPrefix(before, after, limit);
  if (cuts(before, prefix) || cuts(after, prefix)) prefix--;
  let suffix = commonSuffix(before, after, limit - prefix);
  if (cuts(before, before.length - suffix) || cuts(after, after.length - suffix)) suffix--;
  return [offset + prefix, before.length - prefix - suffix, after.slice(prefix, after.length - suffix)];
}

/** Whether a cut at this position would part the two halves of a surrogate pair. */
function cuts(text: string, position: number): boolean {
  const high = text.charCodeAt(position - 1);
  const low = text.charCodeAt(position);
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

/** How many units two texts have in common at their start. Bisected, as slices are compared natively, and units are not. */
function commonPrefix(one: string, other: string, limit: number): number {
  let low = 0;
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
  let high = limit;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (part(one, low, middle) === part(other, low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
