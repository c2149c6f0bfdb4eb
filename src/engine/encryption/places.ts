import type { Key } from "../../backend.ts";

/** The place of all lines of the log: their positions are not known when they are written. */
export const LOG_PLACE = "log";

/** Returns the place of a record, which is authenticated with its value. */
export function placeOf({ table, lineage, group, item, part }: Key): string {
  return `${table}:${lineage}:${group}:${item}:${part}`;
}

/** Returns the place of a directory record. */
export function directoryPlace(id: string): string {
  return `directory:${id}`;
}
