import type { LogLine, LogPage, LogRange } from "../../backend.ts";

/*
 * Merges the logs of a store's shards. Every shard has a log of its own, whose lines are numbered from 1. A position of the whole log
 * says how many lines of each shard come before it: "12" with one shard, else "0:12,5:3", without shards of which there is none. Pages
 * merge the shards' lines by the time of their servers, so that lines of two shards stand in the order of their commits as far as the
 * servers' clocks agree.
 */

/** The lines of one shard, and the numbers of its first and last line; 0 where it has none. */
export interface ShardPage {
  readonly lines: readonly (LogLine & { readonly number: number; readonly time: number })[];
  readonly first: number;
  readonly last: number;
}

/** Returns how many lines of each shard come before a position; undefined for a text that is none. */
export function parsePosition(position: string, shards: number): readonly number[] | undefined {
  const counts = new Array<number>(shards).fill(0);
  if (position === "") return counts;
  for (const part of position.split(",")) {
    const [, shard = "0", count] = /^(?:(\d{1,4}):)?(\d{1,15})$/.exec(part) ?? [];
    if (count === undefined || Number(shard) >= shards) return undefined;
    counts[Number(shard)] = Number(count);
  }
  return counts;
}

function formatPosition(counts: readonly number[]): string {
  if (counts.length === 1) return counts[0] === 0 ? "" : String(counts[0]);
  return counts.flatMap((count, shard) => (count === 0 ? [] : [`${shard}:${count}`])).join();
}

/** Merges the pages of all shards by time. Invariant: lines of one shard keep their order. */
export function mergedPage(pages: readonly ShardPage[], { after, limit, newest = false }: LogRange): LogPage {
  const counts = parsePosition(after, pages.length);
  const ends = pages.map(({ last }) => last);
  const end = formatPosition(ends);
  if (counts === undefined) return { lines: [], end, expired: true };
  const expired = pages.some(({ first, last }, shard) => {
    const count = counts[shard] as number;
    return count > last || (first > 0 && count < first - 1);
  });
  return { lines: newest ? lastLines(pages, ends, limit) : firstLines(pages, counts, limit), end, expired };
}

function firstLines(pages: readonly ShardPage[], after: readonly number[], limit: number): LogPage["lines"] {
  const seen = [...after];
  const next = pages.map(() => 0);
  const lines: LogPage["lines"][number][] = [];
  while (lines.length < limit) {
    const shard = foremost(pages, (page, index) => page.lines[next[index] as number]?.time, Number.POSITIVE_INFINITY);
    if (shard === undefined) break;
    const { number, at, text } = lineAt(pages, shard, next[shard] as number);
    next[shard] = (next[shard] as number) + 1;
    seen[shard] = number;
    lines.push({ position: formatPosition(seen), at, text });
  }
  return lines;
}

function lastLines(pages: readonly ShardPage[], ends: readonly number[], limit: number): LogPage["lines"] {
  const seen = [...ends];
  const left = pages.map(({ lines }) => lines.length);
  const lines: LogPage["lines"][number][] = [];
  while (lines.length < limit) {
    const timeOf = (page: ShardPage, index: number): number | undefined => {
      const time = page.lines[(left[index] as number) - 1]?.time;
      return time === undefined ? undefined : -time;
    };
    const shard = foremost(pages, timeOf, Number.POSITIVE_INFINITY, true);
    if (shard === undefined) break;
    left[shard] = (left[shard] as number) - 1;
    const { number, at, text } = lineAt(pages, shard, left[shard] as number);
    lines.push({ position: formatPosition(seen), at, text });
    seen[shard] = number - 1;
  }
  return lines.reverse();
}

function lineAt(pages: readonly ShardPage[], shard: number, index: number): ShardPage["lines"][number] {
  return (pages[shard] as ShardPage).lines[index] as ShardPage["lines"][number];
}

/** Returns the shard with the least time; of several the first, or the last with `late`. */
function foremost(
  pages: readonly ShardPage[],
  timeOf: (page: ShardPage, shard: number) => number | undefined,
  least: number,
  late = false,
): number | undefined {
  let found: number | undefined;
  let best = least;
  for (const [shard, page] of pages.entries()) {
    const time = timeOf(page, shard);
    if (time === undefined || !(time < best || (late && time === best))) continue;
    best = time;
    found = shard;
  }
  return found;
}
