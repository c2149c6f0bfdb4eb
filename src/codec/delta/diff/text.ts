import type { Delta } from "../format.ts";
import { digits, startsWith } from "../measure.ts";
import { type NodeDiff, replaced } from "../node-diff.ts";
import { commonRuns } from "./common-runs.ts";

type TextSplice = NonNullable<Delta["t"]>[number];

/** Shorter strings are replaced, since an edit would be no smaller. */
const shortest = 32;

/** A way to compare the middles of two texts part by part. */
interface Split {
  /** The least length of both middles. */
  readonly worth: number;
  /** Tells at little cost whether the parts may have something in common. */
  readonly helps: (before: string, after: string) => boolean;
  /** Returns the parts of a text, which join to it. */
  readonly parts: (text: string) => string[];
}

/** The ways to compare texts, from coarse to fine. */
const splits: readonly Split[] = [
  { worth: 128, helps: () => true, parts: linesWithEnds },
  { worth: 1024, helps: haveInCommon, parts: pieces },
];

/** Compares two strings that differ. */
export function diffText(before: string, after: string): NodeDiff {
  if (before.length < shortest || after.length < shortest) return replaced;
  if (after.length > before.length && startsWith(after, before) && !cuts(after, before.length)) {
    return { delta: { a: after.slice(before.length) }, gain: before.length - 6, exact: true };
  }
  const splices: TextSplice[] = [];
  addSplices(before, after, 0, splits, splices);
  let gain = after.length - 12 - digits(before.length);
  for (const splice of splices) gain -= splice[2].length + 7 + digits(splice[0]) + digits(splice[1]);
  return gain > 0 ? { delta: { l: before.length, t: splices }, gain, exact: true } : replaced;
}

/** Adds the splices that turn one text into the other: of their middles, or where these are long, of the parts that differ. */
function addSplices(
  before: string,
  after: string,
  offset: number,
  [split, ...finer]: readonly Split[],
  splices: TextSplice[],
): void {
  const outer = trimmed(before, after, offset);
  const [start, removed, text] = outer;
  const middle = before.slice(start - offset, start - offset + removed);
  if (split && removed >= split.worth && text.length >= split.worth && split.helps(middle, text)) {
    spliceParts(middle, text, start, split.parts, (...part) => addSplices(...part, finer, splices));
  } else {
    splices.push(outer);
  }
}

/** Calls `differ` with each run of parts that differ, and with its place. */
function spliceParts(
  before: string,
  after: string,
  offset: number,
  parts: (text: string) => string[],
  differ: (before: string, after: string, offset: number) => void,
): void {
  const beforeParts = parts(before);
  const afterParts = parts(after);
  const end = { before: beforeParts.length, after: afterParts.length, count: 0 };
  let atBefore = 0;
  let atAfter = 0;
  let position = offset;
  for (const match of [...commonRuns(beforeParts, afterParts), end]) {
    const oldText = beforeParts.slice(atBefore, match.before).join("");
    const newText = afterParts.slice(atAfter, match.after).join("");
    if (oldText !== newText) differ(oldText, newText, position);
    position += oldText.length;
    for (let index = match.before; index < match.before + match.count; index++) position += beforeParts[index]!.length;
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

/** The least length of a piece; on average it is 64 units longer. */
const leastPiece = 16;

/**
 * Cuts a text where a hash of the last 32 units says so: equal passages of two texts are cut alike, wherever they stand. No cut
 * splits a surrogate pair.
 */
function pieces(text: string): string[] {
  const cut: string[] = [];
  let start = 0;
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Each step shifts the units before by a bit, so that the oldest of 32 drops out.
    hash = ((hash << 1) + Math.imul(unit, 0x9e3779b1)) | 0;
    if (hash >>> 26 === 0 && index - start >= leastPiece && (unit & 0xfc00) !== 0xd800) {
      cut.push(text.slice(start, index + 1));
      start = index + 1;
    }
  }
  cut.push(text.slice(start));
  return cut;
}

/** Returns true if one of four samples of a text occurs in the other. */
function haveInCommon(before: string, after: string): boolean {
  for (let sample = 0; sample < 4; sample++) {
    const start = Math.floor((sample * before.length) / 4);
    if (after.includes(before.slice(start, start + leastPiece * 2))) return true;
  }
  return false;
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
