import type { Found } from "../../backend.ts";
import { apply, type Delta, diff } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import type { CheckpointRef } from "../../model/interface/options.ts";
import { seqAfter } from "../../model/seq.ts";
import { ALONE, type Draft } from "../commits/draft/draft.ts";
import { findPlanned, plannedHead, shownBody, treeToBuildOn } from "../commits/draft/draft-view.ts";
import type { NewThread } from "../commits/draft/planned.ts";
import { referDelta } from "../commits/draft/refer-values.ts";
import type { Committer } from "../commits/group-commit.ts";
import { movedMail } from "../commits/moved-mail.ts";
import { indexOfFork, shownEnds } from "../commits/settle-index.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { notFound, threadNotFound } from "../faults/missing.ts";
import type { Tape } from "../memory/tape.ts";
import type { Body } from "../records/body.ts";
import { encodeMark } from "../records/marks.ts";
import { type Meta, newMeta, type Origin } from "../records/meta.ts";
import { checkBodySize, checkRecord, mostOf } from "../records/size-limits.ts";
import { entryChanges } from "../records/store-wide/index-entries.ts";
import { encodeTailRow } from "../records/tail.ts";
import { hasCheckpoints } from "../view/has-checkpoints.ts";
import type { Shown } from "../view/row-at.ts";
import { emptyThread, freeName } from "./empty-thread.ts";
import { insertMail } from "./mail.ts";
import { newForkRow, newId } from "./put/row.ts";
import { subjectOf } from "./put/state-version.ts";
import { updateDelta } from "./put/update.ts";

export interface ForkRequest {
  readonly at: CheckpointRef | undefined;
  readonly into: string;
  readonly edits: { [key: string]: Json } | undefined;
  /** True if the encoded edits hold tags. */
  readonly tagged: boolean;
  readonly history: "ancestors" | "none";
  readonly label: string | undefined;
}

/** Makes a new thread that shows a checkpoint and its ancestors: one meta record and one directory entry, whatever the history. */
export function forkChange(request: ForkRequest, committer: Committer): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const at = await forkPoint(draft, request);
      const source = await draft.tape();
      checkNothingAppended(draft, source);
      const origin = await originOf(draft, source, at, request);
      draft.tell("fork", "", at.id);
      const createdAt = draft.context.clock();
      if (request.edits !== undefined || request.history === "none") {
        const index = await indexOfFork(draft, source, at, createdAt, false);
        const fork = await startThread(draft, committer, source, request.into, at.run, { createdAt, origin, index });
        await addTop(draft, fork, at, request);
        return;
      }
      const { label } = request;
      const index = await indexOfFork(draft, source, at, createdAt, true);
      const { tape } = await startThread(draft, committer, source, request.into, at.run, {
        createdAt,
        origin,
        index,
        ...(label !== undefined && { marks: true as const }),
      });
      if (label !== undefined) draft.batch.insert(tape.key("mark", at.seq), encodeMark([{ generation: 0, label }]));
    },
  };
}

/** Makes a new thread that shows everything the source shows. */
export function copyChange(into: string, committer: Committer): ThreadChange<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const source = draft.existing;
      if (!source || !(await hasCheckpoints(draft.context, source))) throw threadNotFound(draft.thread);
      checkNothingAppended(draft, source);
      const origin: Origin = {
        tape: source.number,
        mode: "all",
        at: 0,
        upTo: source.lastSeq,
        generation: source.meta.generation,
        thread: draft.thread,
        checkpoint: null,
      };
      draft.tell("fork");
      const createdAt = draft.context.clock();
      const { root, newest } = await shownEnds(draft, source);
      const head = (root ?? newest) as Shown;
      const index = await indexOfFork(draft, source, head, createdAt, true);
      await startThread(draft, committer, source, into, newest?.run ?? head.run, { createdAt, origin, index });
    },
  };
}

/** Has the commit refused if other stores have appended to the source, which is planned on as it is remembered. */
function checkNothingAppended(draft: Draft, source: Tape): void {
  draft.batch.check(source.key("tail", source.lastSeq + 1), undefined);
}

async function forkPoint(draft: Draft, { at }: ForkRequest): Promise<Shown> {
  if (!draft.existing) throw threadNotFound(draft.thread);
  if (at === undefined) {
    const head = await plannedHead(draft, "");
    if (!head) throw threadNotFound(draft.thread);
    return head;
  }
  const row = await findPlanned(draft, "", at);
  if (!row) throw notFound(draft.thread, at);
  return row;
}

async function originOf(draft: Draft, source: Tape, at: Shown, { history }: ForkRequest): Promise<Origin> {
  const head = await plannedHead(draft, "");
  return {
    tape: source.number,
    mode: history === "none" ? "none" : "chain",
    at: at.seq,
    upTo: source.lastSeq,
    generation: source.meta.generation,
    // At the head of the root, all nested rows are shown.
    ...(head?.seq === at.seq && { limit: source.lastSeq + 1 }),
    thread: draft.thread,
    checkpoint: at.id,
  };
}

/**
 * Adds a thread to the source's lineage, and moves the source to its next generation. Invariant: the times in its meta record, its
 * index and a row that it begins with are of one look at the clock, so that it is found by the time that it tells.
 */
async function startThread(
  draft: Draft,
  committer: Committer,
  source: Tape,
  into: string,
  run: string | null,
  begins: Pick<Meta, "createdAt" | "origin" | "index" | "marks">,
): Promise<NewThread> {
  const { context } = draft;
  // The first plan takes the name to be free: the commit finds out.
  const entry = draft.fresh ? await freeName(context, committer, into) : undefined;
  const mail = movedMail(entry?.mail ?? []);
  const { failed, controls, attributes, folds, pruner } = source.meta;
  const meta: Meta = {
    ...newMeta(into, begins.createdAt, entry?.epoch ?? 0),
    ...begins,
    ...(failed !== undefined && { failed }),
    ...(controls !== undefined && { controls }),
    ...(attributes !== undefined && { attributes }),
    ...(folds !== undefined && { folds }),
    ...(pruner !== undefined && { pruner }),
    ...(mail.count && { mail: mail.count }),
  };
  const tape = draft.startTape(meta, entry?.value, source.lineage);
  draft.batch.insert(tape.metaKey, tape.metaValue);
  insertMail(draft, tape, mail);
  draft.batch.changeEntries(entryChanges(tape, undefined, meta, run === null ? [] : [run]));
  draft.change({ generation: source.meta.generation + 1 });
  draft.closed = true;
  draft.newThread = { tape, source, rows: [] };
  return draft.newThread;
}

/** Adds the one checkpoint that a fork with edits, or without history, begins with: a copy of `at`, edited. */
async function addTop(draft: Draft, fork: NewThread, at: Shown, request: ForkRequest): Promise<void> {
  try {
    const top = await topOf(draft, fork, at, request);
    draft.batch.insert(fork.tape.key("tail", top.item), top.value);
    fork.rows.push(top);
  } catch (error) {
    // A name that is taken comes before any fault of the edits. On a fresh draft it was looked for already.
    const { context } = draft;
    if (!draft.fresh) await emptyThread(context, await context.directoryEntry(request.into), request.into);
    throw error;
  }
}

async function topOf(draft: Draft, { tape, source }: NewThread, at: Shown, request: ForkRequest): Promise<Found> {
  const { context } = draft;
  const frame = await treeToBuildOn(draft, at);
  let after: Body | undefined;
  let change: Delta = at.replacedBy ?? {};
  let tagged = at.replacedBy !== undefined || request.tagged || at.tagged;
  let { stateVersion } = at;
  if (request.edits) {
    const { shown, migratedTo } = await bodyToEdit(draft, at);
    const edited = updateDelta(context.codec, shown.s, {
      append: [],
      grown: [],
      set: request.edits,
      unset: [],
      patch: [],
    });
    after = { ...shown, s: apply(shown.s, edited.delta) };
    const isStored = at.replacedBy === undefined && migratedTo === undefined;
    change = isStored ? { d: { s: edited.delta } } : (diff(frame.tree, after) ?? {});
    tagged ||= edited.tagged || migratedTo !== undefined;
    stateVersion = migratedTo ?? stateVersion;
  }
  const seq = seqAfter(source.lastSeq, draft.thread);
  const now = tape.meta.createdAt;
  const id = context.ids?.() ?? newId(now, tape.number, seq);
  const row = newForkRow({ ...at, stateVersion }, request.label ?? `fork-of:${draft.thread}`, { seq, id, now, tagged });
  const [stored, text] = referDelta(draft, tape.lineage, change);
  const value = encodeTailRow(row, 1, seq, stored, context.writer, text);
  checkRecord(context, draft.thread, value, "the edited checkpoint");
  const most = frame.most + mostOf(value);
  if (after) checkBodySize(context, draft.thread, most, () => after as Body);
  return { item: seq, part: 0, value };
}

/** Returns the body that edits apply to: as it is shown, or migrated where an older program wrote it. */
async function bodyToEdit(draft: Draft, at: Shown): Promise<{ readonly shown: Body; readonly migratedTo?: number }> {
  const shown = await shownBody(draft, at);
  const { versions, codec } = draft.context;
  const subject = subjectOf(draft.thread, at);
  if (!versions?.isOlder(subject)) return { shown };
  const state = await versions.upgrade(codec.decode(shown.s), subject);
  return {
    shown: { ...shown, s: codec.encode(state, "state").tree },
    migratedTo: versions.versionFor(subject) as number,
  };
}
