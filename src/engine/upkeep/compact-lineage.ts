import type { Key, Value } from "../../backend.ts";
import { diff, replacement } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { nextTurn } from "../../platform/turns.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import { loadReferring } from "../bodies/load-tree.ts";
import { BatchBuilder } from "../commits/batch/batch.ts";
import { collectValues } from "../commits/collect-values.ts";
import type { Committer } from "../commits/group-commit.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import { abortable } from "../memory/abortable.ts";
import type { EngineContext } from "../memory/context.ts";
import { type LoadedPack, runsOf, type Tape } from "../memory/tape.ts";
import { TAPES } from "../reads/directory.ts";
import { encodeMark } from "../records/marks.ts";
import { changeMeta, encodeMeta, type Meta, type Origin } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { entryChanges } from "../records/store-wide/index-entries.ts";
import type { TaskWrites, WriteRecord } from "../records/writes.ts";
import { writesPutBack } from "../removal/carried-writes.ts";
import { dropHeads, dropIds } from "../removal/indexes.ts";
import { nearestRemaining, rebasedVersions, removedBases } from "../removal/nearest-remaining.ts";
import type { ChangedFrame, ChangedFrames } from "../removal/rebase.ts";
import { type RemovedRows, TapeRows } from "../removal/removed-rows.ts";
import { rewriteTape } from "../removal/rewrite.ts";
import { type SeenWrites, seenWrites } from "../removal/visible-writes.ts";
import { dropUnseenWrites, withEntries } from "../removal/writes.ts";
import { allPacks } from "../view/lineage/own-rows.ts";
import { metaRecords, recordsOf } from "../view/lineage/tapes-of-lineage.ts";
import { writeRecords } from "../view/lineage/write-records.ts";
import { homeOf, NOW } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { dropUsedMail } from "./drop-used-mail.ts";
import { type Folds, foldMarks } from "./fold-marks.ts";
import { settledOrigin } from "./settle-origins.ts";

/** Writes that wait for their checkpoint longer than this are dropped. */
const ORPHAN_AGE = 24 * 60 * 60 * 1000;

/**
 * Compacts all tapes of a lineage in one commit. Resolves to false if another store has changed one of them meanwhile. An
 * aborted signal ends it at the next read: until the commit nothing is changed.
 */
export async function compactLineage(
  context: EngineContext,
  committer: Committer,
  lineage: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  await nextTurn();
  // The store's own memory goes on changing meanwhile.
  const own = context.fresh(abortable(context.backend, signal));
  const metas = await metaRecords(own, lineage);
  const tapes = new Map<number, Tape>();
  for (let start = 0; start < metas.length; start += TAPES) {
    const page = metas.slice(start, start + TAPES).map(({ item }) => ({ tape: item, lineage }));
    for (const tape of await own.tapes.refreshAll(page)) if (tape) tapes.set(tape.number, tape);
  }
  // A fork made meanwhile is not among the tapes, but has changed its source: rows that only the fork shows would be lost.
  if (metas.some(({ item, value }) => tapes.get(item)?.metaValue !== value)) return false;
  const compaction = new LineageCompaction(own, tapes);
  try {
    const batch = await compaction.plan();
    const { discarded } = await collectValues(own, batch, lineage, { sweep: true });
    signal?.throwIfAborted();
    if (!batch.writesNothing) {
      if (!(await committer.commit(batch.build()))) return false;
      context.values.forget(lineage);
      await context.outside.delete(discarded);
    }
    return true;
  } catch (error) {
    if (await wasOvertaken(error, () => compaction.isStale())) return false;
    throw error;
  }
}

class LineageCompaction {
  readonly #context: EngineContext;
  readonly #tapes: ReadonlyMap<number, Tape>;
  readonly #batch = new BatchBuilder();
  readonly #packs = new Map<number, readonly LoadedPack[]>();
  /** The tapes that others were forked or copied from. */
  readonly #sources: ReadonlySet<number | undefined>;
  /** The origins that change, by tape. */
  readonly #origins = new Map<number, Origin>();
  /** True if parents of frames change: a reader that mixes old and new ones would follow a wrong line. */
  #leadsElsewhere = false;
  /** The meta records as they were when the tapes were read: a read that is repeated brings the tapes up to date in place. */
  readonly #metaValues: readonly { readonly key: Key; readonly value: Value }[];
  /** The key of each tape's next row: if one is there at the time of the commit, the compaction begins again. */
  readonly #next: ReadonlyMap<number, Key>;

  constructor(context: EngineContext, tapes: ReadonlyMap<number, Tape>) {
    this.#context = context;
    this.#tapes = tapes;
    this.#sources = new Set([...tapes.values()].map(({ meta }) => meta.origin?.tape));
    this.#metaValues = [...tapes.values()].map(({ metaKey, metaValue }) => ({ key: metaKey, value: metaValue }));
    this.#next = new Map([...tapes].map(([number, tape]) => [number, tape.key("tail", tape.lastSeq + 1)]));
    for (const tape of tapes.values()) this.#batch.check(tape.metaKey, tape.metaValue);
  }

  /** Resolves to true if a meta record has changed since the tapes were read. */
  async isStale(): Promise<boolean> {
    const now = await this.#context.read(this.#metaValues.map(({ key }) => ({ get: key })));
    return now.some((value, index) => value !== this.#metaValues[index]?.value);
  }

  async plan(): Promise<BatchBuilder> {
    const shown = await this.#shownSeqs();
    const doomed = await this.#doomed(shown);
    const folds = await foldMarks(this.#context, this.#tapes);
    await this.#settleOrigins(doomed, folds);
    const written = new Map<number, readonly WriteRecord[]>();
    for (const tape of this.#tapes.values()) {
      const records = await writeRecords(this.#context, tape);
      written.set(tape.number, withEntries(records, await this.#putBack(tape, doomed)));
    }
    const seen = await seenWrites(this.#context, this.#tapes, written);
    for (const tape of this.#tapes.values()) {
      const meta = await this.#compactTape(tape, doomed, folds);
      if (meta?.mail) await dropUsedMail(this.#batch, this.#context, tape);
      const dropped = meta ? this.#dropWrites(tape, written.get(tape.number) ?? [], seen) : false;
      // Rows appended since would leave the meta record alone, yet may build on a frame that gets other content, or be
      // the checkpoint that a dropped write has waited for.
      if (meta !== tape.meta || dropped) this.#batch.check(this.#next.get(tape.number) as Key, undefined);
      if (meta === undefined) this.#removeTape(tape);
      else if (meta !== tape.meta) this.#batch.put(tape.metaKey, encodeMeta(meta));
    }
    return this.#batch;
  }

  async #putBack(tape: Tape, doomed: RemovedRows): Promise<readonly TaskWrites[]> {
    const frames = new FrameReader(this.#context);
    return writesPutBack(this.#context, tape, await this.#ownRows(tape), doomed.get(tape.number), frames);
  }

  #removeTape(tape: Tape): void {
    for (const range of recordsOf(tape.lineage, tape.number)) this.#batch.delete(range);
    this.#batch.delete(tape.metaKey);
    this.#batch.changeEntries(entryChanges(tape, tape.meta, undefined, runsOf(tape)));
  }

  /** Returns the seqs that any living thread shows, by tape. */
  async #shownSeqs(): Promise<Map<number, Set<number>>> {
    const shown = new Map<number, Set<number>>();
    for (const tape of this.#tapes.values()) {
      if (tape.meta.dead) continue;
      for await (const row of shownRows(this.#context, tape)) {
        const home = await homeOf(this.#context, tape, row.seq);
        const seqs = shown.get(home.number) ?? new Set();
        shown.set(home.number, seqs.add(row.seq));
      }
    }
    return shown;
  }

  async #doomed(shown: ReadonlyMap<number, ReadonlySet<number>>): Promise<RemovedRows> {
    const doomed = new Map<number, ReadonlySet<number>>();
    for (const tape of this.#tapes.values()) {
      const keep = shown.get(tape.number);
      const gone = (await this.#ownRows(tape)).map((row) => row.seq).filter((seq) => !keep?.has(seq));
      if (gone.length > 0) doomed.set(tape.number, new Set(gone));
    }
    return doomed;
  }

  /** Returns the rows of one tape, oldest first. */
  async #ownRows(tape: Tape): Promise<readonly Row[]> {
    tape.checkIntact();
    const packs = await this.#packsOf(tape);
    return [...packs.flatMap(({ rows }) => rows), ...tape.tail.map(({ row }) => row)];
  }

  async #packsOf(tape: Tape): Promise<readonly LoadedPack[]> {
    const packs = this.#packs.get(tape.number) ?? (tape.meta.sealed === 0 ? [] : await allPacks(this.#context, tape));
    this.#packs.set(tape.number, packs);
    return packs;
  }

  async #settleOrigins(doomed: RemovedRows, folds: Folds): Promise<void> {
    const marks = [...this.#tapes.values()].flatMap((tape) => [...tape.marks.values()].flat());
    // Without replacements, the parents of frames are those that are shown, whichever rows are removed.
    this.#leadsElsewhere = doomed.size > 0 && marks.some((version) => version.row !== undefined);
    for (const tape of this.#tapes.values()) {
      const { origin } = tape.meta;
      if (!origin) continue;
      const settled = await settledOrigin(this.#context, tape, origin, doomed, folds);
      if (settled === origin) continue;
      this.#origins.set(tape.number, settled);
      if (JSON.stringify(settled.parents) !== JSON.stringify(origin.parents)) this.#leadsElsewhere = true;
    }
  }

  /** Returns the tape's new meta record: the present one if nothing changes, undefined if the tape goes. */
  async #compactTape(tape: Tape, doomed: RemovedRows, folds: Folds): Promise<Meta | undefined> {
    if (tape.meta.dead && !this.#sources.has(tape.number)) return undefined;
    let { meta } = tape;
    const change = (fields: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void => {
      meta = changeMeta(meta, fields);
    };
    const origin = this.#origins.get(tape.number);
    if (origin) change({ origin });
    const changed = await this.#changedFrames(tape, doomed, folds);
    const rewrite = await rewriteTape(this.#context, tape, await this.#packsOf(tape), doomed, changed);
    if (!rewrite.batch.writesNothing) {
      this.#batch.add(rewrite.batch);
      change(rewrite.meta);
    }
    const marks = await this.#compactMarks(tape, doomed, folds);
    if (marks !== undefined) change({ marks: marks ? true : undefined });
    if (folds.count > 0 || this.#leadsElsewhere) change({ folds: (meta.folds ?? 0) + 1 });
    const gone = meta.gone && this.#remainingGone(tape, meta.gone, doomed);
    if (gone && gone.length !== meta.gone?.length) change({ gone: gone.length === 0 ? undefined : gone });
    const removed = [...(await this.#ownRows(tape))].filter(
      (row) => !doomed.get(tape.number)?.has(row.seq) && !tape.meta.dead && tape.isGone(row.seq, NOW),
    ).length;
    if (removed !== meta.removed) change({ removed });
    await this.#dropIndexed(tape, doomed);
    return meta;
  }

  /** Returns the ranges of which a row is still there, because a fork shows it. */
  #remainingGone(tape: Tape, gone: NonNullable<Meta["gone"]>, doomed: RemovedRows): NonNullable<Meta["gone"]> {
    const upTo = tape.meta.origin?.upTo ?? 0;
    const own = [...tape.packs.flatMap((pack) => pack.rows), ...tape.tail.map((entry) => entry.row)].map(
      (row) => row.seq,
    );
    const stays = own.filter((seq) => !doomed.get(tape.number)?.has(seq));
    return gone.filter(([from, to]) => from <= upTo || stays.some((seq) => seq >= from && seq <= to));
  }

  /** Returns the frames of a tape that change because a replacement was folded into them or into their base. */
  async #changedFrames(tape: Tape, doomed: RemovedRows, folds: Folds): Promise<ChangedFrames> {
    const frames = new Map<number, ChangedFrame>();
    if (folds.count + folds.unlabelled.size === 0) return frames;
    const reachable = new TapeRows(this.#context, tape, doomed);
    for (const row of await this.#ownRows(tape)) {
      if (doomed.get(tape.number)?.has(row.seq)) continue;
      const parent = await nearestRemaining(reachable, row.parent);
      const own = folds.tree(tape, row.seq);
      const { first: base } = await removedBases(reachable, row.base);
      const unlabelled = row.label !== "" && folds.unlabelled.has(`${tape.number}:${row.seq}`);
      if (own === undefined && (await this.#folded(tape, base, folds)) === undefined) {
        if (unlabelled) frames.set(row.seq, { change: undefined, replaced: false, unlabelled });
        continue;
      }
      const after = own ?? (await loadReferring(this.#context, tape, row.seq)).tree;
      const before =
        (await this.#folded(tape, parent, folds)) ??
        (parent === 0 ? undefined : (await loadReferring(this.#context, tape, parent)).tree);
      const change = before === undefined ? replacement(after) : (diff(before, after) ?? {});
      frames.set(row.seq, { change, replaced: own !== undefined, unlabelled });
    }
    return frames;
  }

  async #folded(tape: Tape, seq: number, folds: Folds): Promise<Json | undefined> {
    return seq === 0 ? undefined : folds.tree(await homeOf(this.#context, tape, seq), seq);
  }

  /** Drops the versions of marks that no thread shows. Resolves to undefined when nothing changes, else to whether any are left. */
  async #compactMarks(tape: Tape, doomed: RemovedRows, folds: Folds): Promise<boolean | undefined> {
    const reachable = new TapeRows(this.#context, tape, doomed);
    let left = false;
    let changed = false;
    for (const [seq, versions] of tape.marks) {
      // A mark without its row would be shown again.
      const goes = await reachable.isRemoved(seq);
      const kept = goes ? [] : await rebasedVersions(reachable, folds.versions(versions));
      left ||= kept.length > 0;
      if (kept === versions) continue;
      changed = true;
      const key = tape.key("mark", seq);
      if (kept.length === 0) this.#batch.delete(key);
      else this.#batch.put(key, encodeMark(kept));
    }
    return changed ? left : undefined;
  }

  /** Takes removed rows, and namespaces that have none left, out of the indexes. */
  async #dropIndexed(tape: Tape, doomed: RemovedRows): Promise<void> {
    const goes = ({ seq }: Row): boolean => doomed.get(tape.number)?.has(seq) ?? false;
    const rows = await this.#ownRows(tape);
    const remaining = new Set(rows.filter((row) => !goes(row)).map((row) => row.namespace));
    await dropIds(this.#batch, this.#context, tape, rows.filter(goes));
    await dropHeads(this.#batch, this.#context, tape, remaining);
  }

  /** Drops writes that no thread sees any more or that have waited for their checkpoint too long. Returns true if there are any. */
  #dropWrites(tape: Tape, records: readonly WriteRecord[], seen: SeenWrites): boolean {
    const now = this.#context.clock();
    const dropped = new BatchBuilder();
    dropUnseenWrites(dropped, tape, records, seen, (entry) => now - entry.at > ORPHAN_AGE);
    this.#batch.add(dropped);
    return !dropped.writesNothing;
  }
}
