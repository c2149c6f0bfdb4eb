import type { Batch } from "../../backend.ts";
import type { Context } from "../memory/context.ts";
import { type Tape, UNSEALED } from "../memory/tape.ts";
import { packRuns } from "../records/pack/pack-runs.ts";
import { tailBytes } from "../records/tail.ts";
import { batchOf } from "./build-batch.ts";
import { Draft } from "./draft.ts";
import { sealRows } from "./seal.ts";

/**
 * Seals what a store leaves behind when it is closed: whoever opens it next reads a few large records, not many small
 * ones. It is no loss where that fails, or others would have to be waited for: rows read as well as packs, only slower.
 */
export async function sealTails(context: Context, tapes: readonly Tape[]): Promise<void> {
  try {
    const batches: Batch[] = [];
    for (const tape of tapes) {
      const draft = new Draft(context, tape.meta.thread, tape, false);
      const { full, rest } = packRuns(tape.tail.slice(0, -UNSEALED), tailBytes, context);
      await sealRows(draft, tape, rest.length > 0 ? [...full, rest] : full);
      const batch = await batchOf(draft);
      if (batch) batches.push(batch);
    }
    await context.backend.commitIfFree?.(batches);
  } catch {
    // A full disk, a damaged record: told to whoever next wants something that needs it.
  }
}
