import type { BatchBuilder } from "../commits/batch.ts";
import { builderOn, metaRecords, recordsOf } from "../lineage/tapes-of-lineage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { metaKey } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";

/**
 * Frees the records of a tape whose thread ends, its meta record apart, and dead tapes that were only kept for it. Resolves
 * to false where forks or copies build on the tape: then nothing is freed, and the tape has to stay as a dead one.
 */
export async function freeTape(batch: BatchBuilder, context: Context, tape: Tape): Promise<boolean> {
  const { lineage } = tape;
  const found = await metaRecords(context, lineage);
  const metas = new Map(found.map((entry) => [entry.item, decodeMeta(entry.value)]));
  // Should the tape because of which no more is freed end at the same moment, no later change would free the rest.
  const checkUnchanged = (number: number): void => {
    for (const { item, value } of found) if (item === number) batch.check(metaKey(lineage, number), value);
  };
  for (let number = tape.number; ; ) {
    const builder = builderOn(metas, number);
    if (builder !== undefined) {
      checkUnchanged(builder);
      return number !== tape.number;
    }
    for (const range of recordsOf(lineage, number)) batch.delete(range);
    if (number !== tape.number) batch.delete(metaKey(lineage, number));
    const origin = metas.get(number)?.origin;
    metas.delete(number);
    if (!origin) return true;
    if (!metas.get(origin.tape)?.dead) {
      checkUnchanged(origin.tape);
      return true;
    }
    number = origin.tape;
  }
}
