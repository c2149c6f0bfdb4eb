import type { Batch, Entry, Key, Range } from "../../backend.ts";
import { diff, replacement } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import type { WorkOptions } from "../../model/options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { nextTurn } from "../../platform/turns.ts";
import { loadTree } from "../bodies/load-tree.ts";
import { isBuiltOn, metaRecords, recordsOf } from "../changes/delete-thread.ts";
import type { Committer } from "../commits/group-commit.ts";
import { isCorrupt } from "../faults/damage.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { allThreads, TAPES } from "../reads/directory.ts";
import { encodeMark } from "../records/marks.ts";
import { changeMeta, encodeMeta, type Meta, type Origin } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import type { WriteRecord } from "../records/writes.ts";
import { withoutHeads, withoutIds } from "../removal/indexes.ts";
import { pushAll } from "../removal/push-all.ts";
import type { ChangedFrame, ChangedFrames } from "../removal/rebase.ts";
import { type Doomed, goneBases, nearestRemaining, rebasedVersions } from "../removal/removed-rows.ts";
import { rewriteTape } from "../removal/rewrite.ts";
import { type SeenWrites, seenWrites } from "../removal/visible-writes.ts";
import { withoutUnseen } from "../removal/writes.ts";
import { allOwnRows } from "../view/own-rows.ts";
import { homeOf, NOW } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { writeRecords } from "../view/write-records.ts";
import { type Folds, foldMarks } from "./fold-marks.ts";
import { settledOrigin } from "./settle-origins.ts";

/** Writes that wait for their checkpoint longer than this are dropped. */
const ORPHAN_AGE = 24 * 60 * 60 * 1000;

/** Removes from storage what no thread shows any more, lineage by lineage, then lets the backend give the room back. */
export async function compactStore(
  context: Context,
  committer: Committer,
  { progress, signal }: WorkOptions,
): Promise<void> {
  signal?.throwIfAborted();
  /** How many threads each has. */
  const lineages = new Map<number, number>();
  const faults: unknown[] = [];
  for await (const tape of allThreads(context, { onFault: (_, error) => faults.push(error) })) {
    signal?.throwIfAborted();
    lineages.set(tape.lineage, (lineages.get(tape.lineage) ?? 0) + 1);
  }
  let done = 0;
  for (const [lineage, threads] of lineages) {
    await nextTurn();
    try {
      const attempts = new Attempts();
      while (!(await compactLineage(context, committer, lineage))) {
        // Somebody wrote meanwhile. A lineage that never rests is left for the next compaction.
        if (!(await attempts.again())) break;
      }
    } catch (error) {
      // What is damaged is left as it is, and does not keep the rest from being compacted.
      if (!isCorrupt(error)) throw error;
      faults.push(error);
    }
    done += threads;
    progress?.(done);
    signal?.throwIfAborted();
  }
  await context.backend.compact();
  if (faults.length > 0) throw faults[0];
}

async function compactLineage(context: Context, committer: Committer, lineage: number): Promise<boolean> {
  // What the engine remembers goes on changing while this looks at everything: it gets a memory of its own.
  const own = context.fresh();
  const metas = await metaRecords(own, lineage);
  const tapes = new Map<number, Tape>();
  for (let start = 0; start < metas.length; start += TAPES) {
    const page = metas.slice(start, start + TAPES).map(({ item }) => ({ tape: item, lineage }));
    for (const tape of await own.tapes.refreshAll(page)) if (tape) tapes.set(tape.number, tape);
  }
  // A fork that was made meanwhile is not among them, but has changed its source: what only it shows would be taken for lost.
  if (metas.some(({ item, value }) => tapes.get(item)?.metaValue !== value)) return false;
  const compaction = new LineageCompaction(own, tapes);
  try {
    const batch = await compaction.plan();
    return !batch || (await committer.commit(batch));
  } catch (error) {
    if (await wasOvertaken(error, () => compaction.isStale())) return false;
    throw error;
  }
}

class LineageCompaction {
  readonly #context: Context;
  readonly #tapes: ReadonlyMap<number, Tape>;
  readonly #rows = new Map<number, readonly Row[]>();
  /** By tape, the origins that have to say more than they did. */
  readonly #origins = new Map<number, Origin>();
  /** Whether the parents of frames lead elsewhere than before: whoever goes by both would mistake a thread's line. */
  #leadsElsewhere = false;
  readonly #deletes: (Key | Range)[] = [];
  readonly #puts: Entry[] = [];
  readonly #checks: { readonly key: Key; readonly value: Tape["metaValue"] | undefined }[] = [];

  /** The first seq each tape has not given out: if one has by the time of the commit, it all starts again. */
  readonly #next: ReadonlyMap<number, Key>;

  constructor(context: Context, tapes: ReadonlyMap<number, Tape>) {
    this.#context = context;
    this.#tapes = tapes;
    this.#next = new Map([...tapes].map(([number, tape]) => [number, tape.key("tail", tape.lastSeq + 1)]));
    for (const tape of tapes.values()) this.#checks.push({ key: tape.metaKey, value: tape.metaValue });
  }

  /** Whether anything has changed since the tapes were read. */
  async isStale(): Promise<boolean> {
    const [checks, tapes] = [this.#checks, this.#tapes.size];
    const now = await this.#context.read(checks.slice(0, tapes).map(({ key }) => ({ get: key })));
    return now.some((value, index) => value !== checks[index]?.value);
  }

  async plan(): Promise<Batch | undefined> {
    const shown = await this.#shownSeqs();
    const doomed = await this.#doomed(shown);
    const folds = await foldMarks(this.#context, this.#tapes);
    await this.#settleOrigins(doomed, folds);
    const written = new Map<number, readonly WriteRecord[]>();
    for (const tape of this.#tapes.values()) written.set(tape.number, await writeRecords(this.#context, tape));
    const seen = await seenWrites(this.#context, this.#tapes, written);
    let changed = false;
    for (const tape of this.#tapes.values()) {
      const meta = await this.#compactTape(tape, doomed, folds);
      const dropped = meta ? this.#dropWrites(tape, written.get(tape.number) ?? [], seen) : false;
      // Rows appended since would leave the meta record alone, yet may build on a frame that gets other content, or be
      // the checkpoint that a dropped write has waited for.
      if (meta !== tape.meta || dropped)
        this.#checks.push({ key: this.#next.get(tape.number) as Key, value: undefined });
      if (meta === tape.meta) continue;
      changed = true;
      if (meta === undefined) this.#deletes.push(...recordsOf(tape.lineage, tape.number), tape.metaKey);
      else this.#puts.push({ key: tape.metaKey, value: encodeMeta(meta) });
    }
    if (!changed && this.#puts.length + this.#deletes.length === 0) return undefined;
    return { checks: this.#checks, deletes: this.#deletes, puts: this.#puts };
  }

  /** By tape, the seqs that any living thread shows of it. */
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

  async #doomed(shown: ReadonlyMap<number, ReadonlySet<number>>): Promise<Doomed> {
    const doomed = new Map<number, ReadonlySet<number>>();
    for (const tape of this.#tapes.values()) {
      const keep = shown.get(tape.number);
      const gone = (await this.#ownRows(tape)).map((row) => row.seq).filter((seq) => !keep?.has(seq));
      if (gone.length > 0) doomed.set(tape.number, new Set(gone));
    }
    return doomed;
  }

  async #ownRows(tape: Tape): Promise<readonly Row[]> {
    const known = this.#rows.get(tape.number);
    if (known) return known;
    const rows = (await allOwnRows(this.#context, tape)).reverse();
    this.#rows.set(tape.number, rows);
    return rows;
  }

  async #settleOrigins(doomed: Doomed, folds: Folds): Promise<void> {
    const marks = [...this.#tapes.values()].flatMap((tape) => [...tape.marks.values()].flat());
    // Where nothing was replaced, frames lead along the lines that are shown, whichever of their rows are still there.
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

  /** The tape's meta record as it is to be; the same one if nothing changes, undefined if the tape goes. */
  async #compactTape(tape: Tape, doomed: Doomed, folds: Folds): Promise<Meta | undefined> {
    const metas = new Map([...this.#tapes].map(([number, { meta }]) => [number, meta]));
    const builtOn = isBuiltOn(metas, tape.number);
    if (tape.meta.dead && !builtOn) return undefined;
    let { meta } = tape;
    const change = (fields: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void => {
      meta = changeMeta(meta, fields);
    };
    const origin = this.#origins.get(tape.number);
    if (origin) change({ origin });
    const rewrite = await rewriteTape(this.#context, tape, doomed, await this.#changedFrames(tape, doomed, folds));
    const rewritten = rewrite.deletes.length + rewrite.puts.length + rewrite.inserts.length > 0;
    if (rewritten) {
      pushAll(this.#deletes, rewrite.deletes);
      pushAll(this.#puts, rewrite.inserts);
      pushAll(this.#puts, rewrite.puts);
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

  /** Ranges of which some row is still there, because a fork shows it. */
  #remainingGone(tape: Tape, gone: NonNullable<Meta["gone"]>, doomed: Doomed): NonNullable<Meta["gone"]> {
    const upTo = tape.meta.origin?.upTo ?? 0;
    const own = [...tape.packs.flatMap((pack) => pack.rows), ...tape.tail.map((entry) => entry.row)].map(
      (row) => row.seq,
    );
    const stays = own.filter((seq) => !doomed.get(tape.number)?.has(seq));
    return gone.filter(([from, to]) => from <= upTo || stays.some((seq) => seq >= from && seq <= to));
  }

  /** The frames of a tape that change because their own content, or that of what they build on, was folded in. */
  async #changedFrames(tape: Tape, doomed: Doomed, folds: Folds): Promise<ChangedFrames> {
    const frames = new Map<number, ChangedFrame>();
    if (folds.count + folds.unlabelled.size === 0) return frames;
    for (const row of await this.#ownRows(tape)) {
      if (doomed.get(tape.number)?.has(row.seq)) continue;
      const parent = await nearestRemaining(this.#context, tape, doomed, row.parent);
      const own = folds.tree(tape, row.seq);
      const { first: base } = await goneBases(this.#context, tape, doomed, row.base);
      const unlabelled = row.label !== "" && folds.unlabelled.has(`${tape.number}:${row.seq}`);
      if (own === undefined && (await this.#folded(tape, base, folds)) === undefined) {
        if (unlabelled) frames.set(row.seq, { change: undefined, replaced: false, unlabelled });
        continue;
      }
      const after = own ?? (await loadTree(this.#context, tape, row.seq)).tree;
      const before =
        (await this.#folded(tape, parent, folds)) ??
        (parent === 0 ? undefined : (await loadTree(this.#context, tape, parent)).tree);
      const change = before === undefined ? replacement(after) : (diff(before, after) ?? {});
      frames.set(row.seq, { change, replaced: own !== undefined, unlabelled });
    }
    return frames;
  }

  async #folded(tape: Tape, seq: number, folds: Folds): Promise<Json | undefined> {
    return seq === 0 ? undefined : folds.tree(await homeOf(this.#context, tape, seq), seq);
  }

  /** Writes the marks of a tape without what nobody sees; undefined when nothing changes, else whether any are left. */
  async #compactMarks(tape: Tape, doomed: Doomed, folds: Folds): Promise<boolean | undefined> {
    let left = false;
    let changed = false;
    for (const [seq, versions] of tape.marks) {
      // With the row, all that was ever said of it: whatever is found there would be shown again.
      const goes = doomed.get((await homeOf(this.#context, tape, seq)).number)?.has(seq);
      const kept = goes ? [] : await rebasedVersions(this.#context, tape, doomed, folds.versions(versions));
      left ||= kept.length > 0;
      if (kept === versions) continue;
      changed = true;
      const key = tape.key("mark", seq);
      if (kept.length === 0) this.#deletes.push(key);
      else this.#puts.push({ key, value: encodeMark(kept) });
    }
    return changed ? left : undefined;
  }

  /** What the indexes say of checkpoints that went, and of namespaces that have none left. */
  async #dropIndexed(tape: Tape, doomed: Doomed): Promise<void> {
    const goes = ({ seq }: Row): boolean => doomed.get(tape.number)?.has(seq) ?? false;
    const rows = await this.#ownRows(tape);
    const remaining = new Set(rows.filter((row) => !goes(row)).map((row) => row.namespace));
    for (const { deletes, puts } of [
      await withoutIds(this.#context, tape, rows.filter(goes)),
      await withoutHeads(this.#context, tape, remaining),
    ]) {
      pushAll(this.#deletes, deletes);
      pushAll(this.#puts, puts);
    }
  }

  /** Drops writes that no thread sees any more or that have waited for their checkpoint too long; true if there are any. */
  #dropWrites(tape: Tape, records: readonly WriteRecord[], seen: SeenWrites): boolean {
    const now = this.#context.clock();
    const freed = withoutUnseen(tape, records, seen, (entry) => now - entry.at > ORPHAN_AGE);
    pushAll(this.#deletes, freed.deletes);
    pushAll(this.#puts, freed.puts);
    pushAll(this.#checks, freed.checks);
    return freed.checks.length > 0;
  }
}
