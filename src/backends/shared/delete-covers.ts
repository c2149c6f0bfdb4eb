import type { DirectoryKey, Key, Range } from "../../backend.ts";

/** Returns whether a delete of `target` removes the record at `key`. */
export function covers(target: Key | DirectoryKey | Range, key: Key | DirectoryKey): boolean {
  if (key.table === "directory") return target.table === "directory" && target.id === key.id;
  if (target.table !== key.table || target.group !== key.group) return false;
  if ("item" in target) return target.item === key.item && target.part === key.part;
  const { from = 0, to = Number.POSITIVE_INFINITY } = target;
  return key.item >= from && key.item <= to;
}
