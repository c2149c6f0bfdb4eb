import type { Key } from "../../backend.ts";
import type { CheckpointRef } from "../../model/interface/options.ts";
import { isWorthRewriting } from "../../model/retention/rewriting.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import { BatchBuilder } from "../commits/batch/batch.ts";
import { collectValues } from "../commits/collect-values.ts";
import { ALONE, type Draft } from "../commits/draft/draft.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import type { EngineContext } from "../memory/context.ts";
import type { LoadedPack, Tape } from "../memory/tape.ts";
import { metaKey } from "../records/keys.ts";
import { encodeMark } from "../records/marks.ts";
import { changeMeta, decodeMeta, encodeMeta, type Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { matchesRef } from "../view/find-ref.ts";
import { allPacks } from "../view/lineage/own-rows.ts";
import { metaRecords } from "../view/lineage/tapes-of-lineage.ts";
import { NOW, parentOf, type Shown } from "../view/row-at.ts";
import { nestedLimit, shownRows } from "../view/shown-rows.ts";
import type { RemovalCandidate } from "./candidate.ts";
import { writesPutBack } from "./carried-writes.ts";
import { goneAfter } from "./hidden-rows.ts";
import { dropIds } from "./indexes.ts";
import { rebasedVersions } from "./nearest-remaining.ts";
import { TapeRows } from "./removed-rows.ts";
import { reparented } from "./reparent.ts";
import { rewriteTape } from "./rewrite.ts";
import { rewriteCost } from "./rewrite-cost.ts";
import { cutWrites, dropWritesOf } from "./writes.ts";

export interface Removed {
  readonly deleted: number;
  readonly bytesReclaimed: number;
}

/** Picks the seqs to delete from all rows that the thread shows, newest first, at the store's time `now`. */
type Choose = (rows: readonly RemovalCandidate[], now: number) => ReadonlySet<number>;

/**
 * Deletes the checkpoints that `choose` picks. Rows that a fork may see are hidden in this thread, and go with the first
 * compaction after the fork is gone. All others are removed from storage at once, unless that would cost full frames and free
 * little: then they are hidden, too, until a later removal or a compaction takes them.
 */
export class RemoveChange implements ThreadChange<Removed> {
  readonly fresh = true;
  readonly #choose: Choose;
  readonly #dryRun: boolean;

  constructor(choose: Choose, dryRun: boolean) {
    this.#choose = choose;
    this.#dryRun = dryRun;
  }

  async plan(draft: Draft): Promise<Removed> {
    if (!draft.empty) throw ALONE;
    const { context, existing: tape } = draft;
    if (!tape) return { deleted: 0, bytesReclaimed: 0 };
    // Found before anything is read: reads of this store may add rows of others to the tape while the removal is planned.
    const absent = tape.key("tail", tape.lastSeq + 1);
    const packs = tape.meta.sealed === 0 ? [] : await allPacks(context, tape);
    const rows = await candidates(context, tape, packs);
    const chosen = this.#choose(rows, context.clock());
    if (chosen.size === 0) return { deleted: 0, bytesReclaimed: 0 };
    const removal = await planRemoval(context, tape, packs, rows, chosen);
    if (!this.#dryRun) {
      addRemoval(draft, removal, absent);
      const left = rows.map(({ row }) => row).filter((row) => !chosen.has(row.seq));
      draft.shown = { newest: left[0], root: left.find((row) => row.namespace === "") };
    }
    return { deleted: chosen.size, bytesReclaimed: Math.max(0, removal.reclaimed) };
  }
}

/** Deletes the checkpoints of a namespace that are named. */
export function removeNamed(namespace: string, refs: readonly CheckpointRef[]): ThreadChange<Removed> {
  const ids = new Set(refs.filter((ref) => typeof ref === "string"));
  const others = refs.filter((ref) => typeof ref !== "string");
  return new RemoveChange((candidates) => {
    const rows = candidates.map(({ row }) => row).filter((row) => row.namespace === namespace);
    const named = [
      ...rows.filter(({ id }) => ids.has(id)),
      ...others.map((ref) => rows.find((row) => matchesRef(row, ref))),
    ];
    return new Set(named.filter((row) => row !== undefined).map(({ seq }) => seq));
  }, false);
}

/** Deletes the checkpoints of a thread for which `goes` holds. */
export function removeWhere(goes: (row: Shown) => boolean): ThreadChange<Removed> {
  return new RemoveChange((rows) => new Set(rows.filter(({ row }) => goes(row)).map(({ row }) => row.seq)), false);
}

/** Returns all rows that the thread shows, newest first, each with the parent that it shows. */
async function candidates(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
): Promise<RemovalCandidate[]> {
  const rows: RemovalCandidate[] = [];
  if (!tape.meta.origin && tape.marks.size === 0) {
    tape.checkIntact();
    // Of hidden rows, the nearest ancestor that is shown.
    const above = new Map<number, number>();
    for (const row of ownRowsOf(tape, packs)) {
      const parent = above.get(row.parent) ?? row.parent;
      if (tape.isGone(row.seq, NOW)) above.set(row.seq, parent);
      else rows.push({ row, parent });
    }
    return rows.reverse();
  }
  for await (const row of shownRows(context, tape)) rows.push({ row, parent: row.parent });
  const shown = new Set(rows.map(({ row }) => row.seq));
  for (const [index, { row }] of rows.entries()) {
    if (row.parent === 0 || shown.has(row.parent)) continue;
    rows[index] = { row, parent: (await parentOf(context, tape, row))?.seq ?? 0 };
  }
  return rows;
}

/** Returns all rows of a tape, oldest first. */
function ownRowsOf(tape: Tape, packs: readonly LoadedPack[]): Row[] {
  return [...packs.flatMap((pack) => pack.rows), ...tape.tail.map(({ row }) => row)];
}

interface Removal {
  readonly batch: BatchBuilder;
  readonly meta: MetaChange;
  readonly reclaimed: number;
  /** True if rows or marks were rewritten: what is remembered of the tape does not match. */
  readonly rewritten: boolean;
  /** Objects outside the store that no record names any more. */
  readonly discarded: readonly string[];
}

type MetaChange = { -readonly [K in keyof Meta]?: Meta[K] | undefined };

async function planRemoval(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
  rows: readonly RemovalCandidate[],
  chosen: ReadonlySet<number>,
): Promise<Removal> {
  const batch = new BatchBuilder();
  const shared = Math.max(await settleForks(batch, context, tape), tape.meta.origin?.upTo ?? 0);
  const own = ownRowsOf(tape, packs);
  const goes = rows.map(({ row }) => row).filter((row) => chosen.has(row.seq));
  const free = goes.filter((row) => row.seq > shared);
  const doomed = free.length === 0 ? new Set<number>() : await erasable(context, tape, packs, free, shared);
  const erased = own.filter((row) => doomed.has(row.seq));
  const hidden = goes.filter((row) => !doomed.has(row.seq));
  const meta: MetaChange = {};
  let reclaimed = 0;
  if (erased.length > 0) {
    const rewrite = await rewriteTape(context, tape, packs, new Map([[tape.number, doomed]]));
    batch.add(rewrite.batch);
    Object.assign(meta, rewrite.meta);
    reclaimed += rewrite.reclaimed;
    await dropIds(batch, context, tape, erased);
  }
  const unshown = new Set([...doomed, ...free.map(({ seq }) => seq)]);
  const areMarked = await rewriteMarks(batch, context, tape, rows, chosen, doomed, unshown);
  if (areMarked) meta.marks = true;
  if (free.length > 0) {
    const putBack = await writesPutBack(context, tape, own, doomed, new FrameReader(context));
    reclaimed += await dropWritesOf(batch, context, tape, free, putBack);
  }
  if (hidden.length > 0) meta.generation = tape.meta.generation + 1;
  const hides = { hidden, left: rows.map(({ row }) => row.seq).filter((seq) => !chosen.has(seq)), own, doomed, shared };
  meta.gone = goneAfter(tape, hides);
  const seqs = new Set(hidden.map((row) => row.seq));
  meta.removed = own.filter(({ seq }) => !doomed.has(seq) && (seqs.has(seq) || tape.isGone(seq, NOW))).length;
  const seen = hidden.filter((row) => row.seq <= shared);
  if (seen.length > 0) await cutWrites(batch, context, tape, seen, tape.meta.generation + 1);
  const rewritten = erased.length > 0 || areMarked || [...tape.marks.keys()].some((seq) => unshown.has(seq));
  if (!rewritten && batch.deletes.length === 0) return { batch, meta, reclaimed, rewritten, discarded: [] };
  const { values, discarded } = await collectValues(context, batch, tape.lineage);
  for (const length of values.values()) reclaimed += length;
  return { batch, meta, reclaimed, rewritten, discarded };
}

/**
 * Returns the seqs of the rows to take out of storage: those that are removed now and no fork can see (`free`), with those that
 * earlier removals have hidden. Returns none if that is not worth what it writes.
 */
async function erasable(
  context: EngineContext,
  tape: Tape,
  packs: readonly LoadedPack[],
  free: readonly Row[],
  shared: number,
): Promise<ReadonlySet<number>> {
  const doomed = new Set(free.map((row) => row.seq));
  for (const { seq } of ownRowsOf(tape, packs)) if (seq > shared && tape.isGone(seq, NOW)) doomed.add(seq);
  const cost = await rewriteCost(context, tape, packs, doomed);
  return isWorthRewriting(cost, context.rewriteBytes) ? doomed : new Set();
}

/**
 * Returns the greatest seq of the tape that a fork or copy of it may show or build on; 0 when there is none. Writes down
 * where nested namespaces of forks end, as far as rows tell that which may now be removed.
 */
async function settleForks(batch: BatchBuilder, context: EngineContext, tape: Tape): Promise<number> {
  const { lineage } = tape;
  let upTo = 0;
  for (const { item, value } of await metaRecords(context, lineage)) {
    const meta = decodeMeta(value);
    const { origin } = meta;
    if (origin?.tape !== tape.number) continue;
    if (origin.mode === "all") upTo = Math.max(upTo, origin.upTo);
    else if (origin.mode === "none") upTo = Math.max(upTo, origin.at);
    else {
      const limit = origin.limit ?? (await nestedLimit(context, origin, tape));
      upTo = Math.max(upTo, limit - 1);
      if (origin.limit !== undefined) continue;
      const key = metaKey(lineage, item);
      batch.check(key, value);
      batch.put(key, encodeMeta(changeMeta(meta, { origin: { ...origin, limit } })));
    }
  }
  return upTo;
}

/**
 * Removes the marks of rows that nobody shows any more (`unshown`) and rebases the others. Frames do not build on marks, so those of hidden
 * rows go at once. Resolves to true if children of replaced rows got marks.
 */
async function rewriteMarks(
  batch: BatchBuilder,
  context: EngineContext,
  tape: Tape,
  rows: readonly RemovalCandidate[],
  chosen: ReadonlySet<number>,
  doomed: ReadonlySet<number>,
  unshown: ReadonlySet<number>,
): Promise<boolean> {
  for (const seq of tape.marks.keys()) if (unshown.has(seq)) batch.delete(tape.key("mark", seq));
  const followed = await reparented(context, tape, rows, chosen);
  const reachable = new TapeRows(context, tape, new Map([[tape.number, doomed]]));
  for (const [seq, versions] of new Map([...tape.marks, ...followed])) {
    if (unshown.has(seq)) continue;
    const rebased = await rebasedVersions(reachable, versions);
    if (rebased === versions && !followed.has(seq)) continue;
    batch.put(tape.key("mark", seq), encodeMark(rebased));
  }
  return followed.size > 0;
}

function addRemoval(draft: Draft, { batch, meta, rewritten, discarded }: Removal, absent: Key): void {
  draft.tell("prune");
  draft.batch.check(absent, undefined);
  draft.batch.add(batch);
  draft.change(meta);
  draft.closed = true;
  draft.rereads = rewritten;
  draft.discarded = discarded;
  draft.context.values.forget((draft.existing as Tape).lineage);
}
