import type { Batch, DirectoryKey, Key, Range } from "../../../backend.ts";
import { logBounds } from "../../../backend.ts";
import { covers } from "../../shared/delete-covers.ts";
import { ServerFailure } from "../../shared/failure.ts";
import type { Argument } from "../connection/connection.ts";
import { behind, boundsOf, entryMember, keyText, memberOf, textOfKey } from "../layout.ts";

/** The parts of a store that a batch touches. */
export interface Scope {
  readonly lineage: number | undefined;
  readonly thread: string | undefined;
}

/** Returns the lineage and the thread of a batch. A batch of two lineages is none that a store of several shards could apply. */
export function scopeOf({ checks = [], deletes = [], inserts = [], puts = [], entries, log, follows }: Batch): Scope {
  let lineage: number | undefined;
  let thread: string | undefined;
  const inLineage = (other: number): void => {
    if ((lineage ?? other) !== other) throw new TypeError(`a batch touches the lineages ${lineage} and ${other}`);
    lineage = other;
  };
  const touch = (key: Key | DirectoryKey | Range): void => {
    if (key.table !== "directory") inLineage(key.lineage);
    else if ((thread ?? key.id) !== key.id) throw new TypeError("a batch touches two directory entries");
    else thread = key.id;
  };
  for (const { key } of checks) touch(key);
  for (const key of deletes) touch(key);
  for (const { key } of inserts) touch(key);
  for (const { key } of puts) touch(key);
  if (follows !== undefined) touch(follows.key);
  for (const entry of entries?.remove ?? []) inLineage(entry.lineage);
  for (const entry of entries?.add ?? []) inLineage(entry.lineage);
  if (log !== undefined) inLineage(log.lineage);
  return { lineage, thread };
}

/** The most bytes of a batch: the server takes 512 MB for one text, and 1 GB for one command. */
const mostBytes = 512 * 1024 * 1024;

/** Returns the operations of a batch for the script, checks first. */
export function operationsOf(batch: Batch, shards: number): readonly Argument[] {
  const { checks = [], deletes = [], inserts = [], puts = [], entries, log } = batch;
  const list: Argument[] = [];
  for (const { key, value } of checks) {
    const text = textOfKey(key);
    const isOwn = key.table !== "directory";
    if (value === undefined) list.push(isOwn ? "n" : "N", text);
    else list.push(isOwn ? "c" : "C", memberOf(text, value));
  }
  for (const { key } of inserts) {
    if (deletes.length > 0 && deletes.some((target) => covers(target, key))) continue;
    list.push(key.table === "directory" ? "N" : "n", textOfKey(key));
  }
  for (const target of deletes) {
    const bounds = rangeOf(target);
    if (target.table === "directory") list.push("R", textOfKey(target));
    else if (bounds !== undefined) list.push("r", ...bounds);
  }
  // An inserted key is known to be absent, unless the batch itself has it twice.
  const written = inserts.length > 1 ? new Set<string>() : undefined;
  for (const { key, value } of inserts) {
    const text = textOfKey(key);
    if (key.table === "directory") list.push("P", text, memberOf(text, value));
    else if (written?.has(text)) list.push("p", text, memberOf(text, value));
    else list.push("a", memberOf(text, value));
    written?.add(text);
  }
  for (const { key, value } of puts) {
    const text = textOfKey(key);
    list.push(key.table === "directory" ? "P" : "p", text, memberOf(text, value));
  }
  for (const entry of entries?.remove ?? []) list.push("-", entryMember(entry));
  for (const entry of entries?.add ?? []) list.push("+", entryMember(entry));
  const most = String(Math.ceil(logBounds.lines / shards));
  for (const { at, text } of log?.lines ?? []) list.push("g", String(at), text, most);
  refuseTooLarge(list);
  return list;
}

function rangeOf(target: Key | DirectoryKey | Range): readonly [string, string] | undefined {
  if (target.table === "directory") return undefined;
  if (!("item" in target)) return boundsOf(target);
  const text = keyText(target);
  return [text, text + behind];
}

function refuseTooLarge(list: readonly Argument[]): void {
  let bytes = 0;
  for (const argument of list) bytes += argument.length;
  if (bytes <= mostBytes) return;
  throw new ServerFailure(new Error(`a commit of ${bytes} bytes is more than the server takes`), false, false, "large");
}
