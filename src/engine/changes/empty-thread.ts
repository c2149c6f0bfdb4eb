import type { Batch } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Attempts } from "../../platform/attempts.ts";
import { batchOf, complete } from "../commits/batch/build-batch.ts";
import { Draft } from "../commits/draft/draft.ts";
import type { Committer } from "../commits/group-commit.ts";
import type { DirectoryEntry, EngineContext } from "../memory/context.ts";
import { runsOf, type Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { changeMeta, encodeMeta } from "../records/meta.ts";
import type { DirectoryRecord } from "../records/store-wide/directory.ts";
import { entryChanges } from "../records/store-wide/index-entries.ts";
import { hasCheckpoints } from "../view/has-checkpoints.ts";
import { mailOf } from "../view/mail.ts";
import { endThread, epochOf, freeTape } from "./end-tape.ts";

/*
 * A thread without checkpoints (a lease, early writes, or all of them deleted) makes way for another of its name.
 */

/**
 * Returns the directory record of a name that a fork or copy can take. A thread without checkpoints ends first, in a commit of
 * its own, since it may be of another lineage; its messages wait in the directory. Throws `CONFLICT` for a thread with checkpoints.
 */
export async function freeName(
  context: EngineContext,
  committer: Committer,
  into: string,
): Promise<DirectoryEntry | undefined> {
  const attempts = new Attempts();
  for (;;) {
    const entry = await context.directoryEntry(into);
    const there = await emptyThread(context, entry, into);
    if (!there) return entry;
    const draft = new Draft(context, into, there, true);
    const mail = await mailOf(context, there);
    // A checkpoint that another store has put meanwhile leaves the meta record as it is.
    draft.batch.check(there.key("tail", there.lastSeq + 1), undefined);
    await endThread(draft, there, { ...epochOf(there), ...(mail.length > 0 && { mail }) });
    await complete(draft);
    const ended = await committer.commit(batchOf(draft) as Batch);
    context.forget(into);
    if (ended && draft.discarded.length > 0) await context.outside.delete(draft.discarded);
    if (!ended && !(await attempts.again())) throw busyName(into);
  }
}

function busyName(into: string): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `Thread ${JSON.stringify(into)} was changed by others again and again. Try again.`,
    {
      thread: into,
    },
  );
}

/** Returns the tape of the thread that has to make way, if there is one. Throws `CONFLICT` for a thread with checkpoints. */
export async function emptyThread(
  context: EngineContext,
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
 * Ends an empty thread in favour of a tape of its own lineage. The one that takes its name must go on from its epochs, which
 * are never used again, and take over its messages, which the caller has read.
 */
export async function makeWay(draft: Draft, there: Tape): Promise<void> {
  const { batch, context } = draft;
  draft.collect(there.lineage);
  batch.check(there.metaKey, there.metaValue);
  // A checkpoint that another store has put meanwhile leaves the meta record as it is.
  batch.check(there.key("tail", there.lastSeq + 1), undefined);
  batch.changeEntries(entryChanges(there, there.meta, undefined, runsOf(there)));
  if (await freeTape(batch, context, there)) batch.delete(there.metaKey);
  else {
    batch.delete(rangeOf(there, "mail"));
    batch.put(there.metaKey, encodeMeta(changeMeta(there.meta, { dead: true, lease: undefined, mail: undefined })));
  }
}
