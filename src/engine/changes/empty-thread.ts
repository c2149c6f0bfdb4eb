import { ThreadmarkError } from "../../errors.ts";
import type { Draft } from "../commits/draft.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { DirectoryRecord } from "../records/directory.ts";
import { entryChanges } from "../records/index-entries.ts";
import { rangeOf } from "../records/keys.ts";
import { changeMeta, encodeMeta } from "../records/meta.ts";
import { headOf } from "../view/find.ts";
import { shownRows } from "../view/shown-rows.ts";
import { freeTape } from "./end-tape.ts";

/*
 * A thread without checkpoints (a lease, early writes, or all of them deleted) makes way for another of its name.
 */

export async function hasCheckpoints(context: Context, tape: Tape): Promise<boolean> {
  if (await headOf(context, tape, "")) return true;
  for await (const _ of shownRows(context, tape)) return true;
  return false;
}

/** Returns the tape of the thread that has to make way, if there is one. Throws `CONFLICT` for a thread with checkpoints. */
export async function emptyThread(
  context: Context,
  entry: DirectoryRecord | undefined,
  into: string,
): Promise<Tape | undefined> {
  if (entry?.tape === undefined || entry.lineage === undefined) return undefined;
  const there = await context.tapes.refresh(entry.tape, entry.lineage);
  if (!there || there.meta.dead) return undefined;
  if (!(await hasCheckpoints(context, there))) return there;
  throw new ThreadmarkError(
    "CONFLICT",
    `There already is a thread ${JSON.stringify(into)}. Choose another id, or delete it first.`,
    { thread: into },
  );
}

/**
 * Ends an empty thread. The one that takes its name must go on from its epochs, which are never used again, and take over
 * its messages, which the caller has read.
 */
export async function makeWay({ batch, context, collects }: Draft, there: Tape): Promise<void> {
  collects.add(there.lineage);
  batch.check(there.metaKey, there.metaValue);
  // A checkpoint that another store has put meanwhile leaves the meta record as it is.
  batch.check(there.key("tail", there.lastSeq + 1), undefined);
  batch.changeEntries(entryChanges(there, there.meta, undefined));
  if (await freeTape(batch, context, there)) batch.delete(there.metaKey);
  else {
    batch.delete(rangeOf(there, "mail"));
    batch.put(there.metaKey, encodeMeta(changeMeta(there.meta, { dead: true, lease: undefined, mail: undefined })));
  }
}
