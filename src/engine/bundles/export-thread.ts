import { type Delta, isReplacement, replacement } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { addNames } from "../../codec/references.ts";
import { lowerBound } from "../../model/seq.ts";
import { Attempts } from "../../platform/attempts.ts";
import { nextTurn } from "../../platform/turns.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import { PAGE_ROWS } from "../bodies/load-page.ts";
import { loadShownReferring } from "../bodies/load-tree.ts";
import { FRAME_BYTES, PACKS, PACKS_AT_ONCE } from "../bodies/replay.ts";
import { withStateValues } from "../bodies/state-values.ts";
import { ValueReader } from "../bodies/values/read-values.ts";
import { neverRests } from "../faults/attempts.ts";
import { ifDamaged } from "../faults/damage.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { type Row, toRecord } from "../records/row.ts";
import { forgetPacks } from "../view/lineage/levels.ts";
import { standingOf } from "../view/lineage/unchanged-since.ts";
import { mailOf } from "../view/mail.ts";
import { homeOf, parentOf, rowAt, type Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { type EncodedWrite, writesOfRows } from "../view/shown-writes.ts";

import type { BundleRecord } from "./bundle-record.ts";

/** Characters of large values that are kept in memory. */
const VALUE_CHARACTERS = 1024 * 1024;

/**
 * Yields the records of one thread as it was at one moment. Where others change the thread meanwhile, they are followed by
 * a `void`, and by the records of a later moment, if the thread is still there. None, where it shows no checkpoint.
 */
export async function* exportThread(known: EngineContext, found: Tape): AsyncGenerator<BundleRecord> {
  const { thread } = found.meta;
  let context = known;
  let tape: Tape | undefined = found;
  const attempts = new Attempts();
  while (tape) {
    const holds = await standingOf(context, tape);
    let begun = false;
    try {
      let end: BundleRecord | undefined;
      for await (const record of threadRecords(context, tape)) {
        if (record.kind === "end") end = record;
        else {
          begun = true;
          yield record;
        }
      }
      if (await holds()) {
        if (end) yield end;
        return;
      }
    } catch (error) {
      if (!(await wasOvertaken(error, async () => !(await holds())))) throw error;
    }
    if (begun) yield { kind: "void", id: thread };
    if (!(await attempts.again())) throw neverRests(thread, "it was exported");
    // Remembered rows may be of either side of the change.
    context = known.fresh();
    tape = await context.thread(thread);
  }
}

/** Yields the records of one thread as they are found, with no more of it in memory than some packs. */
export async function* threadRecords(context: EngineContext, tape: Tape): AsyncGenerator<BundleRecord> {
  const seqs: number[] = [];
  for await (const { seq } of shownRows(context, tape, { most: PACKS_AT_ONCE })) {
    seqs.push(seq);
    if (seqs.length % PAGE_ROWS === 0) forgetPacks(tape, PACKS);
  }
  if (seqs.length === 0) return;
  seqs.reverse();
  const frames = new FrameReader(context, FRAME_BYTES);
  const values = new TellingOnce(context, tape);
  const { thread: id, createdAt, attributes, pruner } = tape.meta;
  yield { kind: "thread", id, createdAt, ...(attributes && { attributes }), ...(pruner !== undefined && { pruner }) };
  let written = 0;
  let told = 0;
  for (let start = 0; start < seqs.length; start += PAGE_ROWS) {
    await nextTurn();
    forgetPacks(tape, PACKS);
    const rows: Shown[] = [];
    for (const seq of seqs.slice(start, start + PAGE_ROWS)) {
      const row = await rowAt(context, tape, seq);
      if (row) rows.push(row);
    }
    const writes = await plainWrites(context, tape, rows).catch(ifDamaged);
    for (const row of rows) {
      told += 1;
      const checkpoint = await checkpointRecord(context, tape, seqs, frames, row);
      yield* values.before(checkpoint);
      yield checkpoint;
      // Where one of the page cannot be read, each is read by itself, and the fault has its checkpoint.
      const own = writes?.get(row.seq) ?? (await plainWrites(context, tape, [row])).get(row.seq) ?? [];
      if (own.length === 0) continue;
      written += 1;
      const record = {
        kind: "writes",
        checkpoint: row.id,
        namespace: row.namespace,
        writes: own.map(toldWrite),
      } as const;
      yield* values.before(record);
      yield record;
    }
  }
  const mail = await mailOf(context, tape);
  for (const message of mail) yield { kind: "mail", message };
  const sent = mail.length > 0 && { mail: mail.length };
  yield { kind: "end", id: tape.meta.thread, checkpoints: told, writes: written, ...sent };
}

/** Returns a write as a bundle has it: when it was written matters to control writes alone, some of which answer others. */
function toldWrite({ at, ...write }: EncodedWrite): EncodedWrite {
  return write.index < 0 && at !== undefined ? { ...write, at } : write;
}

/** Returns the writes of rows by seq, without references into the states of others. */
async function plainWrites(
  context: EngineContext,
  tape: Tape,
  rows: readonly Row[],
): Promise<ReadonlyMap<number, readonly EncodedWrite[]>> {
  const found = [...(await writesOfRows(context, tape, rows))];
  const plain = await withStateValues(
    context,
    found.flatMap(([, writes]) => writes),
    true,
  );
  let from = 0;
  const own = new Map<number, readonly EncodedWrite[]>();
  for (const [seq, { length }] of found) {
    own.set(seq, plain.slice(from, from + length));
    from += length;
  }
  return own;
}

/** The large values of a thread's records, each told before the first record that refers to it. */
class TellingOnce {
  readonly #values: ValueReader;
  readonly #told = new Set<string>();

  constructor(context: EngineContext, tape: Tape) {
    this.#values = new ValueReader(context, tape, VALUE_CHARACTERS);
  }

  async *before(record: BundleRecord): AsyncGenerator<BundleRecord> {
    const names = new Map<string, number>();
    addNames(record as unknown as Json, names);
    for (const [name, length] of names) {
      if (this.#told.has(name)) continue;
      await this.#values.load(new Map([[name, length]]));
      this.#told.add(name);
      yield { kind: "value", name, value: this.#values.value(name) };
    }
  }
}

async function checkpointRecord(
  context: EngineContext,
  tape: Tape,
  seqs: readonly number[],
  frames: FrameReader,
  row: Shown,
): Promise<BundleRecord> {
  const isShown = (seq: number): boolean => seqs[lowerBound(seqs, seq, (entry) => entry)] === seq;
  const parent = isShown(row.parent) ? row.parent : ((await parentOf(context, tape, row))?.seq ?? 0);
  const base = isShown(row.base) ? await rowAt(context, tape, row.base) : undefined;
  const change = await changeOf(context, frames, tape, row, base);
  const tagged = row.tagged || isReplacement(change);
  const told: Row = { ...row, parent, base: isReplacement(change) ? parent : row.base, tagged };
  return { kind: "checkpoint", seq: row.seq, row: toRecord(told), change };
}

/** Returns the stored delta where the thread shows its base unchanged; otherwise the whole body. */
async function changeOf(
  context: EngineContext,
  frames: FrameReader,
  tape: Tape,
  row: Shown,
  base: Shown | undefined,
): Promise<Delta> {
  if (row.replacedBy === undefined && base && base.replacedBy === undefined) {
    return (await frames.read(await homeOf(context, tape, row.seq), row.seq)).change;
  }
  return replacement((await loadShownReferring(context, tape, row)).tree);
}
