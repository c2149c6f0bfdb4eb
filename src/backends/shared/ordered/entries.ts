import type { IndexEntry } from "../../../backend.ts";
import { compareIds } from "../id-order.ts";
import { Ordered } from "./map.ts";

/** The bounds of a read of entries: `from <= text < to`, and behind `after` in the order of reading. */
export interface EntryBounds {
  readonly from: string;
  readonly to: string;
  readonly after?: IndexEntry;
  readonly limit: number;
}

/** Compares entries in the order of the index. */
export function compareEntries(a: IndexEntry, b: IndexEntry): number {
  return compareIds(a.text, b.text) || a.lineage - b.lineage || a.tape - b.tape;
}

export type OrderedEntries<Entry extends IndexEntry> = Ordered<IndexEntry, Entry>;

export function orderedEntries<Entry extends IndexEntry>(): OrderedEntries<Entry> {
  return new Ordered(compareEntries);
}

/**
 * Returns the entry behind which a read begins. Lineages count from 1, so an entry of lineage 0 stands for its text's place
 * before all others of that text.
 */
export function startOf({ from, to, after }: EntryBounds, reverse: boolean): IndexEntry {
  const edge = { text: reverse ? to : from, lineage: 0, tape: 0 };
  if (after === undefined) return edge;
  return compareEntries(after, edge) > 0 === reverse ? edge : after;
}

/** Returns the entries that a `find` of these bounds finds. */
export function findEntries(entries: OrderedEntries<IndexEntry>, bounds: EntryBounds, reverse: boolean): IndexEntry[] {
  const found: IndexEntry[] = [];
  const start = startOf(bounds, reverse);
  if (bounds.limit <= 0) return found;
  for (const entry of reverse ? entries.downFrom(start) : entries.upFrom(start)) {
    if (reverse ? compareIds(entry.text, bounds.from) < 0 : compareIds(entry.text, bounds.to) >= 0) break;
    if (compareEntries(entry, start) === 0) continue;
    found.push({ text: entry.text, lineage: entry.lineage, tape: entry.tape });
    if (found.length >= bounds.limit) break;
  }
  return found;
}

/** Counts the entries with `from <= text < to`. */
export function tallyEntries(
  entries: OrderedEntries<IndexEntry>,
  { from, to }: Pick<EntryBounds, "from" | "to">,
): number {
  let count = 0;
  for (const { text } of entries.upFrom({ text: from, lineage: 0, tape: 0 })) {
    if (compareIds(text, to) >= 0) break;
    count++;
  }
  return count;
}
