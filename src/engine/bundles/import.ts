import { isReplacement } from "../../codec/delta/index.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { ImportResult } from "../../model/interface/results.ts";
import type { WorkOptions } from "../../model/interface/store-options.ts";
import { makeWay } from "../changes/empty-thread.ts";
import { checkLease } from "../changes/lease.ts";
import { insertMail, sendChange } from "../changes/mail.ts";
import { type CapturedWrites, planAllWrites, writesChange } from "../changes/writes.ts";
import { BatchRecords } from "../commits/batch/batch-records.ts";
import { batchOf, complete } from "../commits/batch/build-batch.ts";
import type { Draft } from "../commits/draft/draft.ts";
import { encodeRow } from "../commits/draft/encode-row.ts";
import { unremembered } from "../commits/draft/planned.ts";
import type { Lanes } from "../commits/lanes.ts";
import { movedMail } from "../commits/moved-mail.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { checkRecord } from "../records/size-limits.ts";
import type { StoredWrite } from "../records/writes.ts";
import { tapeFaults } from "../upkeep/verifying/verify.ts";
import { hasCheckpoints } from "../view/has-checkpoints.ts";
import { isPending, mailOf } from "../view/mail.ts";
import { type EncodedWrite, shownWrites } from "../view/shown-writes.ts";
import type { BundledThread } from "./incoming-thread.ts";
import { type BundleSource, readBundle } from "./read-bundle.ts";
import { isSameThread } from "./same-thread.ts";

/**
 * Reads a bundle, thread by thread. Each is written whole, in one commit, once its lines have proved to be what `put` and
 * `putWrites` would have taken, and the records to be written to read back. A thread that is refused ends the import and
 * leaves nothing; threads before it in the bundle stay.
 */
export async function importBundle(
  context: EngineContext,
  lanes: Lanes,
  source: BundleSource,
  { progress, signal }: WorkOptions,
): Promise<ImportResult> {
  let imported = 0;
  let unchanged = 0;
  let checkpoints = 0;
  await readBundle(context, source, signal, {
    header({ backup }) {
      if (backup?.since === undefined) return;
      throw new ThreadmarkError(
        "UNSUPPORTED",
        "The bundle has only the changes since an earlier backup. Use restore, with that backup before it.",
      );
    },
    async thread(thread) {
      if (await importThread(context, lanes, thread)) imported += 1;
      else unchanged += 1;
      checkpoints += thread.checkpoints.length;
      progress?.(imported + unchanged);
    },
    async deleted() {},
  });
  return { imported, unchanged, checkpoints };
}

/** Imports one thread. Resolves to false when it was there already. */
export async function importThread(context: EngineContext, lanes: Lanes, thread: BundledThread): Promise<boolean> {
  const written = await lanes.of(thread.id).add(threadChange(thread));
  if (!written) {
    await addMissingWrites(context, lanes, thread);
    await addMissingMail(lanes, thread);
  }
  return written;
}

/** Adds the writes that a thread lacks. A write that is there stays as it is, even where another would replace it. */
async function addMissingWrites(context: EngineContext, lanes: Lanes, thread: BundledThread): Promise<void> {
  for (const { checkpoint, namespace, writes } of thread.writes) {
    const tape = await context.thread(thread.id);
    const there = tape ? await shownWrites(context, tape, namespace, checkpoint) : [];
    const taken = new Set(there.map(({ task, index }) => JSON.stringify([task, index])));
    const lacking = writes.filter(({ task, index }) => !taken.has(JSON.stringify([task, index])));
    const changes = capturedWrites(namespace, checkpoint, lacking).map((captured) =>
      lanes.of(thread.id).add(writesChange(captured)),
    );
    await Promise.all(changes);
  }
}

/** Adds the messages that wait in the bundle and that a thread does not know. */
async function addMissingMail(lanes: Lanes, { id: thread, mail }: BundledThread): Promise<void> {
  for (const { id, kind, name, payload } of mail.filter(isPending)) {
    await lanes.of(thread).add(sendChange({ id, kind, name, payload, early: false }));
  }
}

/** Groups a checkpoint's writes by task, node and time, as calls of `putWrites` would have. */
function capturedWrites(namespace: string, checkpoint: string, writes: readonly EncodedWrite[]): CapturedWrites[] {
  const calls = new Map<string, StoredWrite[]>();
  const captured: CapturedWrites[] = [];
  const oldestFirst = writes.toSorted((left, right) => (left.at ?? 0) - (right.at ?? 0));
  for (const { task, node = null, index, channel, value, at } of oldestFirst) {
    const call = JSON.stringify([task, node, at]);
    let stored = calls.get(call);
    if (!stored) {
      stored = [];
      calls.set(call, stored);
      captured.push({ namespace, checkpoint, task, node, at, writes: stored, lease: undefined });
    }
    stored.push([index, channel, value]);
  }
  return captured;
}

/**
 * Adds a thread. Resolves to false if there is an identical one; with `isNew`, if there is any of its name.
 */
export function threadChange(thread: BundledThread, isNew = false): ThreadChange<boolean> {
  return {
    fresh: true,
    plan: async (draft) => {
      const { existing } = draft;
      if (existing && (await hasCheckpoints(draft.context, existing))) {
        if (isNew || (await isSameThread(draft.context, thread.id, thread.checkpoints))) return false;
        checkLease(draft, undefined);
        throw new ThreadmarkError(
          "CONFLICT",
          `Thread ${JSON.stringify(thread.id)} is there already and differs from the bundle's. Delete it first, or import elsewhere.`,
          { thread: thread.id },
        );
      }
      checkLease(draft, undefined);
      // Rows come with their seqs, and where all were deleted those may have been given out, or be a source's.
      // Messages that came early move along.
      const instead = existing && (existing.lastSeq > 0 || existing.meta.mail) ? existing : undefined;
      const there = instead ? await mailOf(draft.context, instead) : [];
      if (instead) await makeWay(draft, instead);
      // The key of a checkpoint that another store puts first need not be among those of the bundle's rows.
      else if (existing) draft.batch.check(existing.key("tail", existing.lastSeq + 1), undefined);
      const tape = instead ? await draft.newTape(instead) : await draft.tape();
      const mail = movedMail([...there, ...draft.moved, ...thread.mail]);
      const { createdAt, attributes, pruner } = thread;
      draft.change({ createdAt, ...(attributes && { attributes }), ...(pruner !== undefined && { pruner }) });
      for (const { row, change } of thread.rows()) {
        // A full frame in the midst repeats what was there before.
        const tail = encodeRow(draft, row, change, { grown: row.parent !== 0 && isReplacement(change) });
        checkRecord(draft.context, thread.id, tail.value, `checkpoint ${JSON.stringify(row.id)}`);
        draft.planned.push(unremembered(tail, change));
      }
      const writes = thread.writes.flatMap((record) =>
        capturedWrites(record.namespace, record.checkpoint, record.writes),
      );
      await planAllWrites(draft, tape, writes);
      insertMail(draft, tape, mail);
      if (mail.count) draft.change({ mail: mail.count });
      draft.closed = true;
      draft.rereads = true;
      await prove(draft, tape, thread.id);
      return true;
    },
  };
}

/** Reads the records of the draft back before they are committed. */
async function prove(draft: Draft, tape: Tape, thread: string): Promise<void> {
  await complete(draft);
  const context = draft.context.fresh(new BatchRecords(batchOf(draft) ?? {}, draft.context.backend));
  const found = await context.tapes.refresh(tape.number, tape.lineage);
  const [fault] = found ? await tapeFaults(context, found) : [];
  if (found && !fault) return;
  const checkpoint = fault?.checkpoint ? `, checkpoint ${JSON.stringify(fault.checkpoint)}` : "";
  throw new ThreadmarkError(
    "CORRUPT",
    `Thread ${JSON.stringify(thread)}${checkpoint} of the bundle would not read back: ${fault?.message ?? "it is missing"} ` +
      "Nothing of the thread was imported; export it again.",
    { thread, ...(fault?.checkpoint && { checkpoint: fault.checkpoint }) },
  );
}
