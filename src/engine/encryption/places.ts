import type { Key } from "../../backend.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import type { StoreKeys } from "./store-keys.ts";

/** The place of all lines of the log: their positions are not known when they are written. */
export const LOG_PLACE = "log";

/** Returns the place of a record, which is authenticated with its value. */
export function placeOf({ table, lineage, group, item, part }: Key): string {
  return `${table}:${lineage}:${group}:${item}:${part}`;
}

/** Returns the place of a directory record by the id that it is stored under. */
export function directoryPlace(id: string): string {
  return `directory:${id}`;
}

/** Returns the id that a thread's directory record is stored under. */
export function storedId({ names, hidesIds }: StoreKeys, id: string): string {
  return hidesIds ? cryptography().createHmac("sha256", names).update(`id:${id}`).digest("base64url") : id;
}

/** Separates a directory record from the id that it hides: no envelope contains a line break. */
export const ID_MARK = "\n";
