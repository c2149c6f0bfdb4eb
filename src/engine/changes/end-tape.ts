import type { DirectoryKey } from "../../backend.ts";
import type { BatchBuilder } from "../commits/batch/batch.ts";
import type { Draft } from "../commits/draft/draft.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { metaKey, rangeOf } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";
import { type DirectoryRecord, encodeDirectory } from "../records/store-wide/directory.ts";
import { builderOn, metaRecords, recordsOf } from "../view/lineage/tapes-of-lineage.ts";

/**
 * Plans the end of a thread, of which only `record` stays in the directory. A tape that forks build on stays without a name
 * until they are gone; otherwise it goes at once, with the tapes that were only kept for it.
 */
export async function endThread(draft: Draft, tape: Tape, record: DirectoryRecord): Promise<void> {
  const { batch, context } = draft;
  const key: DirectoryKey = { table: "directory", id: draft.thread };
  if (Object.keys(record).length === 0) batch.delete(key);
  else batch.put(key, encodeDirectory(record));
  draft.closed = true;
  draft.rereads = true;
  draft.collect(tape.lineage);
  if (await freeTape(batch, context, tape)) draft.removeTape();
  else {
    batch.delete(rangeOf(tape, "mail"));
    draft.change({ dead: true, lease: undefined, mail: undefined });
  }
}

/** Returns the part of a directory record that keeps the epochs of a thread from being used again. */
export function epochOf({ meta: { epoch } }: Tape): DirectoryRecord {
  return epoch === 0 ? {} : { epoch };
}

/**
 * Frees the records of a tape whose thread ends, its meta record apart, and dead tapes that were only kept for it. Resolves
 * to false where forks or copies build on the tape: then nothing is freed, and the tape has to stay as a dead one.
 */
export async function freeTape(batch: BatchBuilder, context: EngineContext, tape: Tape): Promise<boolean> {
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
