import type { Found, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { BatchBuilder } from "../commits/batch/batch.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import type { HeadRecord } from "../records/heads.ts";
import { rangeOf } from "../records/keys.ts";
import type { Row } from "../records/row.ts";

/** Takes removed rows out of the index of supplied ids. */
export async function dropIds(
  batch: BatchBuilder,
  context: EngineContext,
  tape: Tape,
  removed: readonly Row[],
): Promise<void> {
  const sealed = removed.filter((row) => row.seq <= tape.meta.sealed);
  if (tape.meta.greatestId === undefined || sealed.length === 0) return;
  const gone = new Set(sealed.map((row) => row.seq));
  const keys = sealed.map((row) => tape.key("id", ...hashStrings(row.namespace, row.id)));
  const found = (await context.read(keys.map((key) => ({ get: key })))) as readonly (Value | undefined)[];
  for (const [index, key] of keys.entries()) {
    const value = found[index];
    if (value === undefined) continue;
    const seqs = (unwrapJson(value) as number[]).filter((seq) => !gone.has(seq));
    if (seqs.length === 0) batch.delete(key);
    else batch.put(key, wrapJson(seqs));
  }
}

/** Takes the namespaces of which the tape has no row left out of the index of heads. */
export async function dropHeads(
  batch: BatchBuilder,
  context: EngineContext,
  tape: Tape,
  remaining: ReadonlySet<string>,
): Promise<void> {
  if (tape.meta.sealed === 0) return;
  const [found] = await context.read([{ scan: rangeOf(tape, "head") }]);
  for (const { item, part, value } of found as readonly Found[]) {
    const heads = Object.entries(unwrapJson(value) as HeadRecord);
    const kept = heads.filter(([namespace]) => remaining.has(namespace));
    const key = tape.key("head", item, part);
    if (kept.length === 0) batch.delete(key);
    else if (kept.length < heads.length) batch.put(key, wrapJson(Object.fromEntries(kept)));
  }
}
