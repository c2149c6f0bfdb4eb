import type { DirectoryKey, Key, Table } from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import { lastInteger } from "../../shared/key-bounds.ts";

/** The tables of integer keys, by the numbers the function `apply` knows them by. Append only. */
export const names: readonly Table[] = ["meta", "tail", "mark", "rows", "net", "steps", "id", "head", "write"];

const directoryCode = names.length;

export function codeOf(table: Table | "directory"): number {
  return table === "directory" ? directoryCode : names.indexOf(table);
}

export function isWide(table: Table): boolean {
  return tables[table].wide;
}

/** The columns of a table's primary key, in order. */
export function keyColumns(table: Table): readonly string[] {
  return isWide(table) ? ["lineage", `"group"`, "item", "part"] : ["lineage", `"group"`, "item"];
}

/** `a.lineage = b.lineage and …` */
export function sameKey(table: Table, a: string, b: string): string {
  return keyColumns(table)
    .map((column) => `${a}.${column} = ${b}.${column}`)
    .join(" and ");
}

/** Tells keys apart, those of the directory as well. */
export function nameOf(key: Key | DirectoryKey): string {
  return key.table === "directory" ? `:${key.id}` : `${key.table}:${key.group}:${key.item}:${key.part}`;
}

/** A bound of a range may lie anywhere, at infinity too; in SQL it lies just outside the integers at most. */
export function bound(value: number): number {
  return Math.max(-1, Math.min(value, lastInteger + 1));
}

/** Returns a schema's name as SQL. Unlike in a string, a doubled quote is all there is to escape, whatever is set. */
export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
