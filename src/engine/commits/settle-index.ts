import { controlIndexes } from "../../model/control-writes.ts";
import { endOf } from "../../model/status.ts";
import { runsOf, type Tape } from "../memory/tape.ts";
import { activeAt, type Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { COMPLETE, entryChanges } from "../records/store-wide/index-entries.ts";
import { type IndexState, indexTime } from "../records/store-wide/index-state.ts";
import { headOf } from "../view/find.ts";
import { type Control, controlsAt, statusCode } from "../view/head-status.ts";
import { shownRows } from "../view/shown-rows.ts";
import type { Draft } from "./draft/draft.ts";
import { findPlanned, plannedHead } from "./draft/draft-view.ts";
import type { Planned } from "./draft/planned.ts";

/*
 * The index of threads, kept in the commits that change what it tells: here a draft's meta record gets the facts that its
 * thread is found by, and its batch the entries that differ from those of the meta record before.
 */

/** Returns true if a draft leaves the facts that its thread is found by as they are. Nearly every put ends here. */
export function leavesIndex(draft: Draft): boolean {
  const { meta, planned, controls, shown } = draft;
  if (shown !== undefined || controls.length > 0) return false;
  const last = planned.at(-1);
  if (last === undefined) return true;
  const index = meta?.index;
  if (meta === undefined || index === undefined || index.nested || meta.early || planned.length > 1) return false;
  const { row } = last.tail;
  if (row.namespace !== "") return false;
  if ((row.workflow ?? undefined) !== index.w || statusCode(row, []) !== index.s) return false;
  return isSameSecond(activeAt(meta, row), index.t);
}

/** Brings the index in a draft's meta record up to date. */
export async function settleIndex(draft: Draft): Promise<void> {
  const { meta } = draft;
  if (meta === undefined || draft.removed || meta.dead) return;
  if (await keepsStatus(draft, meta)) return;
  if (draft.controls.length > 0 && !meta.early && (await hasEarly(draft))) draft.change({ early: true });
  const index = await indexOf(draft, draft.meta as Meta);
  if (!isSameIndex(index, meta.index)) draft.change({ index });
  // A thread without checkpoints is no thread: the next one of its name begins without these.
  if (index === undefined && meta.attributes !== undefined) draft.change({ attributes: undefined });
  if (index === undefined && meta.due !== undefined) draft.change({ due: undefined });
}

/** Adds the entries that differ from those before the draft. */
export function addEntries(draft: Draft, tape: Tape): void {
  const after = draft.removed ? undefined : draft.meta;
  const before = draft.created ? undefined : draft.before.meta;
  const runs = draft.removed ? runsOf(tape) : after?.index ? newRuns(draft) : [];
  draft.batch.changeEntries(entryChanges(tape, before, after, runs));
  if (draft.reindexes) draft.batch.changeEntries({ remove: [], add: entryChanges(tape, undefined, after).add });
  if (draft.created && draft.context.index.isEmpty) {
    draft.batch.changeEntries({ remove: [], add: [{ text: COMPLETE, lineage: tape.lineage, tape: tape.number }] });
  }
}

/** Returns true if the thread is to be found by a run more than before. */
export function hasNewRun(draft: Draft): boolean {
  if (draft.shown?.runs === undefined && draft.planned.length === 1) {
    const { run } = (draft.planned[0] as Planned).tail.row;
    return run !== null && run !== lastRun(draft);
  }
  return newRuns(draft).size > 0;
}

function newRuns(draft: Draft): ReadonlySet<string> {
  const runs = new Set(draft.shown?.runs);
  for (const { tail } of draft.planned) if (tail.row.run !== null) runs.add(tail.row.run);
  const last = draft.reindexes ? undefined : lastRun(draft);
  if (typeof last === "string") runs.delete(last);
  return runs;
}

/** Returns the run of the last row on the tape. Invariant: the tape has an entry of that run, which stays as long as the tape. */
function lastRun(draft: Draft): string | null | undefined {
  return draft.existing?.tail.at(-1)?.row.run;
}

async function indexOf(draft: Draft, meta: Meta): Promise<IndexState | undefined> {
  const ends = await endsOf(draft, meta);
  if (ends === undefined) return meta.index;
  const { newest, root } = ends;
  const head = root ?? newest;
  if (head === undefined || newest === undefined) return undefined;
  const now = activeAt(meta, newest);
  return {
    s: statusCode(head, await controlsOf(draft, meta, head)),
    t: meta.index !== undefined && isSameSecond(now, meta.index.t) ? meta.index.t : indexTime(now),
    ...(head.workflow !== null && { w: head.workflow }),
    ...(root === undefined && { nested: true as const }),
  };
}

/** Returns the index of a thread that begins as a fork or copy, with this head, and is as if last active at a time. */
export async function indexOfFork(
  draft: Draft,
  source: Tape,
  head: Row,
  time: number,
  withWrites: boolean,
): Promise<IndexState> {
  const { failed, controls } = source.meta;
  const seen = withWrites && (failed || controls) ? await controlsAt(draft.context, source, head) : [];
  return {
    s: statusCode(head, seen),
    t: indexTime(time),
    ...(head.workflow !== null && { w: head.workflow }),
    ...(head.namespace !== "" && { nested: true as const }),
  };
}

/** Returns the rows that decide the index once the draft is committed; undefined where it stays as it is. */
async function endsOf(
  draft: Draft,
  meta: Meta,
): Promise<{ readonly newest: Row | undefined; readonly root: Row | undefined } | undefined> {
  if (draft.shown) return draft.shown;
  const planned = draft.planned.at(-1)?.tail.row;
  const root = draft.planned.findLast(({ tail }: Planned) => tail.row.namespace === "")?.tail.row;
  if (planned && root) return { newest: planned, root };
  if (planned && draft.created) return { newest: planned, root: undefined };
  const tape = draft.existing;
  if (tape === undefined) return undefined;
  if (planned && meta.index?.nested) return { newest: planned, root: undefined };
  const head = await plannedHead(draft, "");
  if (planned) return { newest: planned, root: head };
  // The draft has control writes and no rows: they change the status if they are for the head.
  const newest = await newestOf(draft, tape);
  const decisive = head ?? newest;
  if (decisive === undefined) return undefined;
  const isHeads = draft.controls.some((control) => isFor(control, decisive));
  return meta.index === undefined || isHeads ? { newest, root: head } : undefined;
}

async function newestOf(draft: Draft, tape: Tape): Promise<Row | undefined> {
  for await (const row of shownRows(draft.context, tape)) return row;
  return undefined;
}

/**
 * Returns true if a draft only adds errors of the head to a thread that has failed already: its status stays, whatever else is stored. Without this,
 * each of many tasks that fail in one step would read the errors of all before it.
 */
async function keepsStatus(draft: Draft, meta: Meta): Promise<boolean> {
  const { planned, shown, controls } = draft;
  if (planned.length > 0 || shown !== undefined || controls.length === 0 || meta.index?.s !== "f") return false;
  const isError = ({ index, value }: (typeof controls)[number]): boolean =>
    index === controlIndexes.error && endOf([value]) === "failed";
  if (!controls.every(isError)) return false;
  const head = await plannedHead(draft, "");
  return head !== undefined && controls.every((control) => isFor(control, head));
}

/** Returns true if the draft saves control writes for a checkpoint that is not there yet. */
async function hasEarly(draft: Draft): Promise<boolean> {
  for (const { namespace, checkpoint } of draft.controls) {
    if (!(await findPlanned(draft, namespace, checkpoint))) return true;
  }
  return false;
}

/** Returns the control writes of the head, those of the draft included. */
async function controlsOf(draft: Draft, meta: Meta, head: Row): Promise<readonly Control[]> {
  const own = draft.controls.filter((control) => isFor(control, head));
  const isNew = draft.planned.some(({ tail }) => tail.row.seq === head.seq);
  const mayHaveMore = isNew ? meta.early : meta.controls || meta.failed;
  const stored = draft.existing && mayHaveMore ? await controlsAt(draft.context, draft.existing, head) : [];
  const replaced = (control: Control): boolean =>
    own.some(({ task, index }) => task === control.task && index === control.index);
  return [...stored.filter((control) => !replaced(control)), ...own];
}

function isFor(control: { readonly namespace: string; readonly checkpoint: string }, row: Row): boolean {
  return control.checkpoint === row.id && control.namespace === row.namespace;
}

function isSameSecond(left: number, right: number): boolean {
  return Math.floor(left / 1000) === Math.floor(right / 1000);
}

function isSameIndex(left: IndexState | undefined, right: IndexState | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const { s, t, w, nested } = left;
  return s === right.s && t === right.t && w === right.w && nested === right.nested;
}

/** Returns the newest rows that a thread shows. */
export async function shownEnds({ context }: Draft, tape: Tape): Promise<NonNullable<Draft["shown"]>> {
  const root = await headOf(context, tape, "");
  for await (const newest of shownRows(context, tape)) return { newest, root };
  return { newest: undefined, root: undefined };
}
