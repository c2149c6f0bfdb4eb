import type { Answer, Backend, DirectoryKey, Found, Key, Range, Table, Value } from "../../src/backend.ts";
import { decodeDirectory } from "../../src/engine/records/store-wide/directory.ts";

/**
 * Changes a character in the last record that a thread has in a table, so that its checksum does not match any more. The records
 * of an encrypted store are found through `decrypted`.
 */
export async function damage(
  backend: Backend,
  thread: string,
  table: Table | "directory" = "tail",
  decrypted: Backend = backend,
): Promise<void> {
  const [key] = (await recordsOf(decrypted, thread, table)).at(-1) ?? [];
  if (key === undefined) throw new Error(`Thread ${thread} has no record of ${table}.`);
  const [value] = (await backend.read([{ get: key }])) as readonly [Value];
  await backend.commit([{ checks: [], deletes: [], inserts: [], puts: [{ key, value: changed(value) }] }]);
}

/** Returns the records that a thread has in a table, with their keys. */
export async function recordsOf(
  backend: Backend,
  thread: string,
  table: Table | "directory",
): Promise<readonly (readonly [Key | DirectoryKey, Value])[]> {
  const entry: DirectoryKey = { table: "directory", id: thread };
  const [value] = (await backend.read([{ get: entry }])) as readonly (Value | undefined)[];
  if (value === undefined) return [];
  if (table === "directory") return [[entry, value]];
  const { lineage = 0, tape = 0 } = decodeDirectory(value);
  const isOfLineage = table === "meta" || table === "value";
  const range: Range = { table, lineage, group: isOfLineage ? lineage : tape };
  const [found] = (await backend.read([{ scan: range }])) as readonly Answer[];
  return (found as readonly Found[])
    .filter(({ item }) => table !== "meta" || item === tape)
    .map(({ item, part, value: record }) => [{ ...range, item, part }, record]);
}

function changed(value: Value): Value {
  if (typeof value !== "string") return value.map((byte, index) => (index === value.length >> 1 ? byte ^ 1 : byte));
  const middle = Math.floor((value.length + 10) / 2);
  return `${value.slice(0, middle)}${value[middle] === "~" ? "!" : "~"}${value.slice(middle + 1)}`;
}
