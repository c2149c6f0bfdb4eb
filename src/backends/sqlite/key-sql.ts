import type { DirectoryKey, Key, Range } from "../../backend.ts";
import { tables } from "../../backend.ts";
import { lastInteger } from "../shared/key-bounds.ts";
import type { Bound } from "./driver/contract.ts";

export type TableName = Key["table"] | DirectoryKey["table"];

/**
 * The SQL of a table's keys. SQLite combines the integers: a key can exceed 2^53, where a JavaScript number is inexact,
 * and a BigInt costs more than two numbers.
 */
export interface KeySql {
  /** The key's columns, as in an INSERT or as a conflict target. */
  readonly columns: string;
  /** An expression for each column, with the parameters of `bindKey`. */
  readonly values: string;
  readonly equals: string;
  /** The condition for a range, with the parameters of `bindRange`. */
  readonly within: string;
  /** The columns that a scan selects beside the value. */
  readonly selected: string;
  readonly ascending: string;
  readonly descending: string;
}

const narrowKey = "? << 32 | ?";
const widePlace = "(? - 2147483648) << 32 | ?";

const narrow: KeySql = {
  columns: "key",
  values: narrowKey,
  equals: `key = ${narrowKey}`,
  within: `key BETWEEN ${narrowKey} AND ${narrowKey}`,
  selected: "key & 4294967295 AS item, 0 AS part",
  ascending: "key",
  descending: "key DESC",
};

const wide: KeySql = {
  columns: "grp, place",
  values: `?, ${widePlace}`,
  equals: `grp = ? AND place = (${widePlace})`,
  within: `grp = ? AND place BETWEEN ${widePlace} AND ${widePlace}`,
  selected: "(place >> 32) + 2147483648 AS item, place & 4294967295 AS part",
  ascending: "place",
  descending: "place DESC",
};

const directory: KeySql = {
  columns: "id",
  values: "?",
  equals: "id = ?",
  within: "id >= ? AND id < ?",
  selected: "id",
  ascending: "id",
  descending: "id DESC",
};

export function keySqlOf(table: TableName): KeySql {
  if (table === "directory") return directory;
  return tables[table].wide ? wide : narrow;
}

export function isNarrow(key: Key | DirectoryKey): key is Key {
  return key.table !== "directory" && !tables[key.table].wide;
}

export function bindKey(bound: Bound[], key: Key | DirectoryKey): void {
  if (key.table === "directory") bound.push(key.id);
  else if (tables[key.table].wide) bound.push(key.group, key.item, key.part);
  else bound.push(key.group, key.item);
}

/** Binds a range, limited to valid items: a bound beyond them would reach into other groups in SQL. */
export function bindRange(bound: Bound[], { table, group, from = 0, to = lastInteger }: Range): void {
  let low = Math.max(from, 0);
  let high = Math.min(to, lastInteger);
  if (low > high) [low, high] = [1, 0];
  if (tables[table].wide) bound.push(group, low, 0, high, lastInteger);
  else bound.push(group, low, group, high);
}
