import type { Key, Value } from "../../backend.ts";
import { utf8 } from "../../platform/bytes.ts";

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

/** Returns the content of a directory record whose id is hidden: the length of the id, the id and the value. */
export function withId(id: string, value: Value): Uint8Array {
  const about = utf8(id);
  return Buffer.concat([utf8(`${about.length}:`), about, typeof value === "string" ? utf8(value) : value]);
}

/** Returns the id and the value of such a record; undefined where it was not read. */
export function withoutId(content: Buffer | undefined): { readonly id: string; readonly value: Buffer } | undefined {
  if (content === undefined) return undefined;
  const start = content.indexOf(":") + 1;
  const end = start + Number(content.toString("latin1", 0, start - 1));
  return { id: content.toString("utf8", start, end), value: content.subarray(end) };
}
