import type { Entry, Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Engine } from "../engine.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import type { Row } from "../records/row.ts";

/** What takes rows that go out of the index of supplied ids. */
export async function withoutIds(
  engine: Engine,
  tape: Tape,
  rows: readonly Row[],
): Promise<{ readonly deletes: readonly Key[]; readonly puts: readonly Entry[] }> {
  const sealed = rows.filter((row) => row.seq <= tape.meta.sealed);
  if (tape.meta.greatestId === undefined || sealed.length === 0) return { deletes: [], puts: [] };
  const gone = new Set(sealed.map((row) => row.seq));
  const keys = sealed.map((row) => tape.key("id", ...hashStrings(row.namespace, row.id)));
  const found = (await engine.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
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
