import type { DirectoryKey, Key, Range, Table } from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import { lastItem } from "../../shared/key-bounds.ts";

/** The format that this version writes, and the newest that it reads. */
export const formatVersion = 2;

/** Stands for the directory of threads in place of a lineage, whose numbers begin with 1. */
export const directoryLineage = 0;

/** The effect of one line of a journal. */
export type Operation =
  /** Puts a record of a table. */
  | { readonly is: "put"; readonly table: Table; readonly group: number; readonly item: number; readonly part: number }
  /** Deletes records of a group: the items `from` to `to`, or one item's `part`. */
  | {
      readonly is: "delete";
      readonly table: Table;
      readonly group: number;
      readonly from: number;
      readonly to: number;
      readonly part: number | undefined;
    }
  /** Puts or deletes a thread's entry in the directory. */
  | { readonly is: "name"; readonly id: string }
  | { readonly is: "unname"; readonly id: string }
  /** Adds an entry to the index, or removes it. Only in the directory's journal. */
  | { readonly is: "entry" | "unentry"; readonly text: string; readonly lineage: number; readonly tape: number }
  /** A line of the log. Only in the directory's journal. */
  | { readonly is: "log"; readonly position: number; readonly at: number; readonly text: string }
  /** Confirms a joint batch in the journal of a lineage. `mark` is the checksum of the batch's last line. */
  | { readonly is: "commits"; readonly lineage: number; readonly batch: number; readonly mark: string }
  /** The first line of every journal. Another follows before the first lines of a later format. */
  | { readonly is: "format"; readonly format: number; readonly lineage: number }
  /**
   * Ends a compacted journal without any effect, so that no record is in the last batch, where damage would count as a
   * crash.
   */
  | { readonly is: "seal" };

export function putOf(key: Key | DirectoryKey): Operation {
  if (key.table === "directory") return { is: "name", id: key.id };
  return { is: "put", table: key.table, group: key.group, item: key.item, part: key.part };
}

export function deleteOf(target: Key | DirectoryKey | Range): Operation {
  if (target.table === "directory") return { is: "unname", id: target.id };
  const { table, group } = target;
  if (!("item" in target)) {
    return { is: "delete", table, group, from: target.from ?? 0, to: target.to ?? lastItem(table), part: undefined };
  }
  const part = tables[table].wide ? target.part : undefined;
  return { is: "delete", table, group, from: target.item, to: target.item, part };
}

/** Returns the fields of a line that hold its operation, each followed by a comma. */
export function fieldsOf(operation: Operation): string {
  switch (operation.is) {
    case "put": {
      const part = operation.part === 0 ? "" : `"part":${operation.part},`;
      return `"table":"${operation.table}","group":${operation.group},"item":${operation.item},${part}`;
    }
    case "delete": {
      const part = operation.part === undefined ? "" : `"part":${operation.part},`;
      return `"delete":"${operation.table}","group":${operation.group},"from":${operation.from},"to":${operation.to},${part}`;
    }
    case "name":
      return `"table":"directory","id":${JSON.stringify(operation.id)},`;
    case "unname":
      return `"delete":"directory","id":${JSON.stringify(operation.id)},`;
    case "entry":
    case "unentry": {
      const { text, lineage, tape } = operation;
      const verb = operation.is === "entry" ? "" : `"delete":"entry",`;
      return `${verb}"entry":${JSON.stringify(text)},"lineage":${lineage},"tape":${tape},`;
    }
    case "log":
      return `"log":${operation.position},"at":${operation.at},"line":${JSON.stringify(operation.text)},`;
    case "commits":
      return `"commits":${operation.batch},"lineage":${operation.lineage},"mark":"${operation.mark}",`;
    case "format":
      return `"format":${operation.format},"lineage":${operation.lineage},`;
    case "seal":
      return `"seal":true,`;
  }
}

/** The parsed fields of any kind of line. */
export type Fields = { readonly [name: string]: unknown };

/** Parses {@link fieldsOf}; undefined when this version does not write such fields. */
export function operationOf(fields: Fields): Operation | undefined {
  const { id, table, group, item, from, to, part } = fields;
  if (table === "directory" && typeof id === "string") return { is: "name", id };
  if (fields["delete"] === "directory" && typeof id === "string") return { is: "unname", id };
  if (isTable(table) && isInteger(group) && isInteger(item)) {
    return { is: "put", table, group, item, part: isInteger(part) ? part : 0 };
  }
  const { delete: cleared, lineage, commits, mark, format, seal } = fields;
  if (isTable(cleared) && isInteger(group) && isInteger(from) && isInteger(to)) {
    return { is: "delete", table: cleared, group, from, to, part: isInteger(part) ? part : undefined };
  }
  const { entry, tape, log, at, line } = fields;
  if (typeof entry === "string" && isInteger(lineage) && isInteger(tape)) {
    return { is: cleared === "entry" ? "unentry" : "entry", text: entry, lineage, tape };
  }
  if (isInteger(log) && isInteger(at) && typeof line === "string") return { is: "log", position: log, at, text: line };
  if (isInteger(commits) && isInteger(lineage) && typeof mark === "string") {
    return { is: "commits", lineage, batch: commits, mark };
  }
  if (isInteger(format) && isInteger(lineage)) return { is: "format", format, lineage };
  return seal === true ? { is: "seal" } : undefined;
}

function isTable(name: unknown): name is Table {
  return typeof name === "string" && Object.hasOwn(tables, name);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
