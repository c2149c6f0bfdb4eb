/** Thrown where a shard has more than its share of what was asked for: then each is asked for as much as all together. */
export const UNEVEN: unique symbol = Symbol("uneven");

/** Returns how much to ask of every shard: some more than its share of all that is wanted; all of it if `generous`. */
export function shareOf(limit: number, shards: number, generous: boolean): number {
  return generous ? limit : Math.min(limit, Math.ceil((2 * limit) / shards) + 16);
}

/** Merges the pages of all shards. Throws {@link UNEVEN} if a page ended at its limit before the answer was full. */
export function merged<T>(
  pages: readonly (readonly T[])[],
  compare: (a: T, b: T) => number,
  limit: number,
  share: number,
): T[] {
  if (pages.length === 1) return [...(pages[0] as readonly T[])];
  const all = pages.flat().sort(compare).slice(0, limit);
  const last = all.at(-1);
  for (const page of pages) {
    const end = page.at(-1);
    const isCut = page.length >= share && share < limit && end !== undefined && last !== undefined;
    if (isCut && (compare(end, last) < 0 || all.length < limit)) throw UNEVEN;
  }
  return all;
}
