import type { Found, Listed, Range } from "../../../backend.ts";
import { compareIds } from "../id-order.ts";
import { lastInteger, lastItem } from "../key-bounds.ts";
import { Ordered } from "./map.ts";

/** The part of a key that orders the records of a group. */
export type ItemKey = Pick<Found, "item" | "part">;

/** The part of a directory entry that orders the directory. */
export type Id = Pick<Listed, "id">;

/** Compares records of one group in the order of their keys. */
export function compareItemKeys(a: ItemKey, b: ItemKey): number {
  return a.item - b.item || a.part - b.part;
}

/** Makes an empty directory, ordered by id. */
export function orderedById<Entry extends Id>(): Ordered<Id, Entry> {
  return new Ordered((a, b) => compareIds(a.id, b.id));
}

/** Returns the records of a group that a scan of `range` finds, at most `limit`. */
export function scanGroup<Entry extends ItemKey>(
  group: Ordered<ItemKey, Entry> | undefined,
  { table, from = 0, to = lastItem(table) }: Range,
  reverse: boolean,
  limit: number,
): Entry[] {
  const found: Entry[] = [];
  if (group === undefined || from > to || limit <= 0) return found;
  const entries = reverse ? group.downFrom({ item: to, part: lastInteger }) : group.upFrom({ item: from, part: 0 });
  for (const entry of entries) {
    if (entry.item < from || entry.item > to) break;
    found.push(entry);
    if (found.length >= limit) break;
  }
  return found;
}

/** Returns the entries of a directory whose ids start with `prefix` and come after `after`, at most `limit`. */
export function listDirectory<Entry extends Id>(
  directory: Ordered<Id, Entry>,
  prefix: string,
  after: string | undefined,
  limit: number,
): Entry[] {
  const listed: Entry[] = [];
  if (limit <= 0) return listed;
  const start = after !== undefined && compareIds(after, prefix) > 0 ? after : prefix;
  for (const entry of directory.upFrom({ id: start })) {
    if (!entry.id.startsWith(prefix)) break;
    if (entry.id === after) continue;
    listed.push(entry);
    if (listed.length >= limit) break;
  }
  return listed;
}

/** Returns the group of a number, and makes it if it is not there. */
export function groupToFill<Entry extends ItemKey>(
  groups: Map<number, Ordered<ItemKey, Entry>>,
  number: number,
): Ordered<ItemKey, Entry> {
  let group = groups.get(number);
  if (group === undefined) {
    group = new Ordered(compareItemKeys);
    groups.set(number, group);
  }
  return group;
}
