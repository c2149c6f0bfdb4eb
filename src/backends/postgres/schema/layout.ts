import type { DirectoryKey, Key, Stored, Table } from "../../../backend.ts";
import { tables } from "../../../backend.ts";

/** Numbers of tapes and lineages are below this. In tables made before layout 5 they are `int4`, and below the other. */
export const mostTapes: number = 2 ** 40;
export const mostNarrowTapes: number = 2 ** 31;

/** The tables with integer keys. */
export const names: readonly Table[] = [
  "meta",
  "tail",
  "mark",
  "rows",
  "net",
  "steps",
  "id",
  "head",
  "write",
  "value",
  "mail",
];

/** The codes of the function `apply`, by position. Append-only, since processes of several versions may call it. */
const codes: readonly Stored[] = [...names.slice(0, 9), "directory", "value", "mail", "entry", "log"];

export function codeOf(table: Stored): number {
  return codes.indexOf(table);
}

export function isWide(table: Table): boolean {
  return tables[table].wide;
}

/** Returns the columns of a table's primary key, in order. */
export function keyColumns(table: Table): readonly string[] {
  return isWide(table) ? ["lineage", `"group"`, "item", "part"] : ["lineage", `"group"`, "item"];
}

/** Returns `a.lineage = b.lineage and …`. */
export function sameKey(table: Table, a: string, b: string): string {
  return keyColumns(table)
    .map((column) => `${a}.${column} = ${b}.${column}`)
    .join(" and ");
}

/** Returns a text that identifies a key, also of the directory. */
export function nameOf(key: Key | DirectoryKey): string {
  return key.table === "directory" ? `:${key.id}` : `${key.table}:${key.group}:${key.item}:${key.part}`;
}

/** Limits a bound of a range, which may be infinite, to just outside the valid integers. */
export function bound(value: number): number {
  return Math.max(-1, Math.min(value, mostTapes));
}

/** A schema as its statements name it. */
export interface NamedSchema {
  /** Its name as SQL. */
  readonly schema: string;
  /** A condition of every commit that sets how it is acknowledged: see `commitAs`. A shard has none: see `place`. */
  readonly durable?: string;
  /**
   * A table of one row that inserts join, in a schema that is a shard. Citus runs an insert where the shard is only if it reads a
   * table there, and calls no function that changes something. Else it sends the rows, and reports those as inserted that were there.
   */
  readonly place?: string;
}

/** Returns a schema's name as SQL. In an identifier only the quote must be escaped, whatever the server's settings. */
export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
