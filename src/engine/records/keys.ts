import type { Backend, Key, Range, Table } from "../../backend.ts";

/** The tables of a pack, in the order of its values: metadata by column, net change, single deltas. */
export const PACK_TABLES = ["rows", "net", "steps"] as const;

/** Numbers of tapes are below this on every backend. */
export const MOST_TAPES: number = 2 ** 40;

/** Returns the bound of the numbers that a backend can tell apart. */
export function tapesOf({ capabilities }: Backend): number {
  return Math.min(capabilities.tapes ?? 2 ** 31, MOST_TAPES);
}

/** The lineage of records that belong to no thread but to the store. No tape has this number. */
export const STORE_LINEAGE: number = 2 ** 31 - 1;

/** The key of the record that says that a store is encrypted, and holds its own keys. */
export const storeKey: Key = { table: "head", lineage: STORE_LINEAGE, group: STORE_LINEAGE, item: 0, part: 0 };

/**
 * The thread whose lease is the right to sweep, and whose meta record tells what was swept, backed up and restored. It never
 * has a checkpoint, so no list shows it.
 */
export const STORE_THREAD = "\u0001threadmark:sweeper";

/** The part of a tape that its keys are made of. */
export interface TapeAddress {
  readonly lineage: number;
  readonly number: number;
}

/** Returns the identity of a tape. Its number alone is none: tapes of two lineages may have the same. */
export function tapeName(lineage: number, tape: number): string {
  return `${lineage}:${tape}`;
}

/**
 * Returns the key of a tape's meta record. The meta records of a lineage are one group, so that one scan reads them
 * all.
 */
export function metaKey(lineage: number, tape: number): Key {
  return { table: "meta", lineage, group: lineage, item: tape, part: 0 };
}

/** Returns the range of a tape's records in a table, from one item to another, both included. */
export function rangeOf({ lineage, number: group }: TapeAddress, table: Table, from?: number, to?: number): Range {
  return { table, lineage, group, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
