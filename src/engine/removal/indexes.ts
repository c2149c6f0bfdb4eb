import type { Entry, Found, Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import type { HeadRecord } from "../records/heads.ts";
import { rangeOf } from "../records/keys.ts";
import type { Row } from "../records/row.ts";

/** What takes rows that go out of the index of supplied ids. */
export async function withoutIds(
  context: Context,
  tape: Tape,
  rows: readonly Row[],
): Promise<{ readonly deletes: readonly Key[]; readonly puts: readonly Entry[] }> {
  const sealed = rows.filter((row) => row.seq <= tape.meta.sealed);
  if (tape.meta.greatestId === undefined || sealed.length === 0) return { deletes: [], puts: [] };
  const gone = new Set(sealed.map((row) => row.seq));
  const keys = sealed.map((row) => tape.key("id", ...hashStrings(row.namespace, row.id)));
  const found = (await context.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  for (const [index, key] of keys.entries()) {
    const value = found[index];
    if (value === undefined) continue;
    const seqs = (unwrapJson(value) as number[]).filter((seq) => !gone.has(seq));
    if (seqs.length === 0) deletes.push(key);
    else puts.push({ key, value: wrapJson(seqs) });
  }
  return { deletes, puts };
}

/** What takes namespaces out of the index of which the tape has no row any more. */
export async function withoutHeads(
  context: Context,
  tape: Tape,
  remaining: ReadonlySet<string>,
): Promise<{ readonly deletes: readonly Key[]; readonly puts: readonly Entry[] }> {
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  if (tape.meta.sealed === 0) return { deletes, puts };
  const [found] = await context.read([{ scan: rangeOf(tape, "head") }]);
  for (const { item, part, value } of found as readonly Found[]) {
    const heads = Object.entries(unwrapJson(value) as HeadRecord);
    const kept = heads.filter(([namespace]) => remaining.has(namespace));
    const key = tape.key("head", item, part);
    if (kept.length === 0) deletes.push(key);
    else if (kept.length < heads.length) puts.push({ key, value: wrapJson(Object.fromEntries(kept)) });
  }
  return { deletes, puts };
}
