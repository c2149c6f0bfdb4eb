import type { Json } from "../../json.ts";
import { same } from "../measure.ts";

/**
 * A run of `count` elements that is the same in both lists, at `before` in the old one and at `after` in the new one.
 */
export interface CommonRun {
  before: number;
  after: number;
  count: number;
}

/**
 * Finds runs of elements that two lists have in common, in order; elements between the runs were removed or inserted.
 * Elements that occur equally often in both lists are anchors: the longest ascending sequence of anchors is kept, and
 * each anchor grows in both directions.
 */
export function commonRuns(before: readonly Json[], after: readonly Json[]): CommonRun[] {
  const matches: CommonRun[] = [];
  let beforeEnd = 0;
  let afterEnd = 0;
  for (const [atBefore, atAfter] of increasing(anchors(before, after))) {
    if (atBefore < beforeEnd || atAfter < afterEnd) continue;
    const shift = atBefore - atAfter;
    const lowest = Math.max(afterEnd, beforeEnd - shift);
    const highest = Math.min(after.length, before.length - shift);
    let start = atAfter;
    while (start > lowest && same(before[start - 1 + shift]!, after[start - 1]!)) start--;
    let end = atAfter + 1;
    while (end < highest && same(before[end + shift]!, after[end]!)) end++;
    matches.push({ before: start + shift, after: start, count: end - start });
    beforeEnd = end + shift;
    afterEnd = end;
  }
  return matches;
}

type Pair = readonly [before: number, after: number];

function anchors(before: readonly Json[], after: readonly Json[]): Pair[] {
  const places = new Map<Json, { before: number[]; after: number[] }>();
  for (let index = 0; index < before.length; index++) {
    const key = signature(before[index]!);
    const place = places.get(key);
    if (place === undefined) places.set(key, { before: [index], after: [] });
    else place.before.push(index);
  }
  for (let index = 0; index < after.length; index++) places.get(signature(after[index]!))?.after.push(index);
  const pairs: Pair[] = [];
  for (const place of places.values()) {
    if (place.before.length !== place.after.length) continue;
    for (let index = 0; index < place.before.length; index++) {
      const pair: Pair = [place.before[index]!, place.after[index]!];
      if (same(before[pair[0]]!, after[pair[1]]!)) pairs.push(pair);
    }
  }
  return pairs.sort((one, other) => one[1] - other[1]);
}

/** Returns a bounded digest of an element. Equal elements have equal signatures; unequal ones rarely do. */
function signature(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return `[${value.length}${brief(value[0])}${brief(value.at(-1))}`;
  let text = "{";
  let count = 0;
  for (const key in value) {
    text += `${key}:${brief(value[key])}`;
    if (++count === 6) break;
  }
  return text;
}

function brief(value: Json | undefined): string {
  if (typeof value === "string") return `${value.length}${value.slice(0, 40)},`;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? `[${value.length},` : "{,";
  return `${value},`;
}

/** Returns the longest subsequence of the pairs (ordered by `after`) in which `before` increases too. */
function increasing(pairs: readonly Pair[]): Pair[] {
  // ends[n] is the pair with the smallest `before` that ends an increasing subsequence of n + 1 pairs.
  const ends: number[] = [];
  const previous: number[] = [];
  for (let index = 0; index < pairs.length; index++) {
    const value = pairs[index]![0];
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![0] < value) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : ends[low - 1]!);
    ends[low] = index;
  }
  const result: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]!) result.push(pairs[index]!);
  return result.reverse();
}
