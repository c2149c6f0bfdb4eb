import type { Found } from "../../backend.ts";
import { apply, type Delta, diff } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { ThreadmarkError } from "../../errors.ts";
import { addressedId } from "../../model/id.ts";
import type { CheckpointRef } from "../../model/options.ts";
import { seqAfter } from "../../model/seq.ts";
import { ALONE, type Draft } from "../commits/draft.ts";
import { findPlanned, plannedHead, shownBody, treeToBuildOn } from "../commits/draft-view.ts";
import type { Change } from "../commits/lane.ts";
import { notFound, threadNotFound } from "../faults/missing.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Body } from "../records/body.ts";
import type { DirectoryRecord } from "../records/directory.ts";
import { encodeMark } from "../records/marks.ts";
import { type Meta, newMeta, type Origin } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { checkBody, checkRecord, mostOf } from "../records/size-limits.ts";
import { encodeTailRow } from "../records/tail.ts";
import { headOf } from "../view/find.ts";
import type { Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { makeWay } from "./delete-thread.ts";
import { updateDelta } from "./put/update.ts";

export interface ForkRequest {
  readonly at: CheckpointRef | undefined;
  readonly into: string;
  readonly edits: { [key: string]: Json } | undefined;
  /** Whether the encoded edits hold tags. */
  readonly tagged: boolean;
  readonly history: "ancestors" | "none";
  readonly label: string | undefined;
}

/** A new thread that shows a checkpoint and its ancestors: one meta record and one directory entry, whatever the history. */
export function forkChange(request: ForkRequest): Change<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const at = await forkPoint(draft, request);
      const source = await draft.tape();
      checkNothingAppended(draft, source);
      const head = await plannedHead(draft, "");
      const onTop = request.edits !== undefined || request.history === "none";
      const origin: Origin = {
        tape: source.number,
        mode: request.history === "none" ? "none" : "chain",
        at: at.seq,
        upTo: source.lastSeq,
        generation: source.meta.generation,
        // Nothing of the root comes after its head: then all that is nested is shown.
        ...(head?.seq === at.seq && { limit: source.lastSeq + 1 }),
        thread: draft.thread,
        checkpoint: at.id,
      };
      const label = onTop ? undefined : request.label;
      const target = await startThread(draft, source, request.into, origin, label !== undefined);
      if (onTop) {
        const top = await topOf(draft, source, target, at, request).catch(async (error: unknown) => {
          // A name that is taken is the first thing to tell.
          if (!draft.fresh)
            await emptyThread(draft.context, await draft.context.directoryEntry(request.into), request.into);
          throw error;
        });
        draft.inserts.push({ key: target.tape.key("tail", top.item), value: top.value });
        target.rows.push(top);
      } else if (label !== undefined) {
        draft.inserts.push({ key: target.tape.key("mark", at.seq), value: encodeMark([{ generation: 0, label }]) });
      }
    },
  };
}

/** A new thread that shows everything the source shows. */
export function copyChange(into: string): Change<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const source = draft.existing;
      if (!source || !(await hasCheckpoints(draft.context, source))) throw threadNotFound(draft.thread);
      checkNothingAppended(draft, source);
      await startThread(draft, source, into, {
        tape: source.number,
        mode: "all",
        at: 0,
        upTo: source.lastSeq,
        generation: source.meta.generation,
        thread: draft.thread,
        checkpoint: null,
      });
    },
  };
}

/** The source is planned on as it is remembered: what others have appended since makes the commit be planned again. */
function checkNothingAppended(draft: Draft, source: Tape): void {
  draft.checks.push({ key: source.key("tail", source.lastSeq + 1), value: undefined });
}

async function forkPoint(draft: Draft, request: ForkRequest): Promise<Shown> {
  const { at } = request;
  const tape = draft.existing;
  if (!tape) throw threadNotFound(draft.thread);
  if (at === undefined) {
    const head = await plannedHead(draft, "");
    if (!head) throw threadNotFound(draft.thread);
    return head;
  }
  const row = await findPlanned(draft, "", at);
  if (!row) throw notFound(draft.thread, at);
  return row;
}

export async function hasCheckpoints(context: Context, tape: Tape): Promise<boolean> {
  if (await headOf(context, tape, "")) return true;
  for await (const _ of shownRows(context, tape)) return true;
  return false;
}

interface Target {
  readonly tape: Tape;
  /** Rows the thread begins with. */
  readonly rows: Found[];
}

/** The tape of a thread that makes way: one without checkpoints (a lease, early writes, all deleted). Else CONFLICT. */
async function emptyThread(
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

/** Adds a thread to the source's lineage, and moves the source to its next generation. */
async function startThread(draft: Draft, source: Tape, into: string, origin: Origin, marks = false): Promise<Target> {
  const { context } = draft;
  // That the name is free is taken for granted at first: the commit finds out.
  const entry = draft.fresh ? await context.directoryEntry(into) : undefined;
  const there = await emptyThread(context, entry, into);
  const epoch = there?.meta.epoch ?? entry?.epoch ?? 0;
  if (there) {
    await makeWay(draft, there);
    draft.afterwards.push(() => context.forget(into));
  }
  const { failed, folds } = source.meta;
  const meta: Meta = {
    ...newMeta(into, context.clock(), epoch),
    origin,
    ...(failed !== undefined && { failed }),
    ...(folds !== undefined && { folds }),
    ...(marks && { marks: true as const }),
  };
  const tape = draft.startTape(meta, entry?.value, source.lineage);
  draft.inserts.push({ key: tape.metaKey, value: tape.metaValue });
  draft.change({ generation: source.meta.generation + 1 });
  draft.closed = true;
  const rows: Found[] = [];
  draft.afterwards.push(() => {
    if (marks) return;
    tape.source = source;
    tape.addTail(rows);
    context.remember(into, tape);
  });
  return { tape, rows };
}

/** The one checkpoint a fork with edits begins with: a copy of `at`, edited. */
async function topOf(draft: Draft, source: Tape, target: Target, at: Shown, request: ForkRequest): Promise<Found> {
  const { context } = draft;
  const seq = seqAfter(source.lastSeq, draft.thread);
  const now = context.clock();
  const frame = await treeToBuildOn(draft, at);
  let after: Body | undefined;
  let change: Delta = at.replacedBy ?? {};
  let tagged = at.replacedBy !== undefined || request.tagged;
  if (request.edits) {
    const shown = await shownBody(draft, at);
    const edited = updateDelta(context.codec, shown.s, { append: [], set: request.edits, unset: [] });
    after = { ...shown, s: apply(shown.s, edited.delta) };
    change = at.replacedBy === undefined ? { d: { s: edited.delta } } : (diff(frame.tree, after) ?? {});
    tagged ||= edited.tagged;
  }
  const row: Row = {
    ...at,
    seq,
    id: context.ids?.() ?? addressedId(now, target.tape.number, seq) ?? crypto.randomUUID(),
    parent: at.seq,
    base: at.seq,
    source: "fork",
    label: request.label ?? `fork-of:${draft.thread}`,
    createdAt: now,
    tagged: tagged || at.tagged,
  };
  const value = encodeTailRow(row, 1, seq, change, context.writer);
  checkRecord(context, draft.thread, value, "the edited checkpoint");
  const most = frame.most + mostOf(value);
  if (after) checkBody(context, draft.thread, most, () => after as Body);
  return { item: seq, part: 0, value };
}
