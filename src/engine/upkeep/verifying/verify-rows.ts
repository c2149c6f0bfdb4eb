import type { Key, Table, Value } from "../../../backend.ts";
import { apply } from "../../../codec/delta/index.ts";
import { unwrapJson } from "../../../codec/envelope.ts";
import { resolveInState } from "../../../codec/state-references.ts";
import { idAddress } from "../../../model/id.ts";
import { nextTurn } from "../../../platform/turns.ts";
import { PAGE_ROWS } from "../../bodies/load-page.ts";
import { type FrameGraph, PACKS, PACKS_AT_ONCE, Replay, type Replayed } from "../../bodies/replay.ts";
import { ValueReader } from "../../bodies/values/read-values.ts";
import { isCorrupt, named } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { decodeWrites, infoOf } from "../../reads/checkpoint.ts";
import type { Body } from "../../records/body.ts";
import { checkBody } from "../../records/check-body.ts";
import { hashStrings } from "../../records/hash.ts";
import { findById } from "../../view/find.ts";
import { forgetPacks, levels } from "../../view/lineage/levels.ts";
import { ownRow, ownRows } from "../../view/lineage/own-rows.ts";
import { tapeRecords } from "../../view/lineage/tape-records.ts";
import { homeOf, isPlain, type Shown } from "../../view/row-at.ts";
import { shownRows } from "../../view/shown-rows.ts";
import { type EncodedWrite, shownWrites, writesOfRows } from "../../view/shown-writes.ts";
import { verifyMail } from "./verify-mail.ts";
import { verifyPackValues } from "./verify-values.ts";

/** Told of what is wrong: with a checkpoint, or with the thread. */
export type OnThreadFault = (error: unknown, checkpoint?: string) => void;

/**
 * Reads all that a thread shows: every frame, every type, every write. With `after`, rows up to that seq are left out,
 * since they were read as part of another thread.
 */
export async function verifyRows(
  context: EngineContext,
  tape: Tape,
  after: number,
  onFault: OnThreadFault,
): Promise<void> {
  let sound = true;
  const tell: OnThreadFault = (error) => {
    sound = false;
    onFault(error);
  };
  const faulty: FaultyRow[] = [];
  const graph = await frameGraph(context, tape, after, tell);
  const replay = new Replay(context, tape, graph);
  let page: Shown[] = [];
  for await (const body of replay.bodies()) {
    const { row } = body;
    try {
      await checkCheckpoint(context, tape, replay, body);
      page.push(row);
    } catch (error) {
      faulty.push({ row, error });
    }
    if (page.length < PAGE_ROWS) continue;
    faulty.push(...(await verifyPage(context, tape, replay, page)));
    page = [];
    await nextTurn();
  }
  faulty.push(...(await verifyPage(context, tape, replay, page)));
  faulty.sort((left, right) => right.row.seq - left.row.seq);
  for (const { row, error } of faulty) onFault(error, row.id);
  await verifyHashed(context, tape, tell);
  await verifyMail(context, tape, tell);
  await verifyPackValues(context, tape, tell);
  if (sound && faulty.length === 0) await verifyCount(context, tape, graph);
}

interface FaultyRow {
  readonly row: Shown;
  readonly error: unknown;
}

async function frameGraph(
  context: EngineContext,
  tape: Tape,
  after: number,
  onFault: OnThreadFault,
): Promise<FrameGraph> {
  const seqs: number[] = [];
  const bases: number[] = [];
  for await (const row of shownRows(context, tape, { onFault, most: PACKS_AT_ONCE })) {
    if (row.seq <= after) break;
    // A replacement stands beside the frame, which others build on as it was.
    const physical = row.replacedBy ? await ownRow(context, await homeOf(context, tape, row.seq), row.seq) : row;
    seqs.push(row.seq);
    bases.push(physical?.base ?? 0);
    if (seqs.length % PAGE_ROWS > 0) continue;
    forgetPacks(tape, PACKS);
    await nextTurn();
  }
  return { seqs: seqs.reverse(), bases: bases.reverse() };
}

/** Checks a checkpoint as far as its own row and body tell. */
async function checkCheckpoint(context: EngineContext, tape: Tape, replay: Replay, body: Replayed): Promise<void> {
  const { row, tree, tagged, change, error } = body;
  if (tree === undefined) throw named(error, tape.meta.thread, row.id);
  try {
    infoOf(context, { thread: tape.meta.thread, namespace: [] }, row, null);
    if (row.replacedBy === undefined) checkBody(context.codec, row, tree, tagged, change);
    else {
      const replacement = await new ValueReader(context, tape).resolveCopied(row.replacedBy);
      checkBody(context.codec, row, apply(tree, replacement), true);
    }
  } catch (fault) {
    throw named(fault, tape.meta.thread, row.id);
  }
  await checkCarried(context, tape, body);
  if (row.parent === 0) return;
  if (row.parent >= row.seq) throw new Error("its parent was committed after it");
  if (replay.placeOf(row.parent) >= 0) return;
  if (!(await ownRow(context, await homeOf(context, tape, row.parent), row.parent))) {
    throw new Error("its parent is missing");
  }
}

/** Checks that the writes which a row carries read, and that its state has what they refer to. */
async function checkCarried(context: EngineContext, tape: Tape, { row, tree, writes }: Replayed): Promise<void> {
  if (row.carries === undefined) return;
  if (writes === undefined) throw new Error("the writes that it carries do not read");
  const values = new ValueReader(context, tape);
  for (const [, , value] of writes.flatMap((task) => task.writes)) {
    const stored = await values.resolveCopied(value);
    context.codec.decode(resolveInState(stored, (tree as Body).s));
  }
}

/** Checks that checkpoints are found by their ids, and that their writes read. */
async function verifyPage(
  context: EngineContext,
  tape: Tape,
  replay: Replay,
  page: readonly Shown[],
): Promise<FaultyRow[]> {
  const faulty: FaultyRow[] = [];
  const { found, writes } = await readPage(context, tape, page);
  for (const row of page) {
    try {
      const isFound = found.has(row.seq) || (await findById(context, tape, row.namespace, row.id))?.seq === row.seq;
      if (!isFound) throw new Error("it is not found by its id");
      const own = writes.get(row.seq) ?? (await shownWrites(context, tape, row.namespace, row.id));
      // References into the state of a row that is replayed are checked there.
      const isReplayed = ({ carriedBy }: EncodedWrite): boolean =>
        carriedBy !== undefined && carriedBy.tape.number === tape.number && replay.placeOf(carriedBy.seq) >= 0;
      await decodeWrites(
        context,
        tape,
        own.filter((write) => !isReplayed(write)),
      );
    } catch (error) {
      faulty.push({ row, error });
    }
  }
  return faulty;
}

/** The records read for a page of rows at once. Rows without an entry are read one by one, so that a fault has its checkpoint. */
interface PageAtHand {
  /** The seqs of those whose id leads to them. */
  readonly found: ReadonlySet<number>;
  /** Writes by seq. */
  readonly writes: ReadonlyMap<number, readonly EncodedWrite[]>;
}

async function readPage(context: EngineContext, tape: Tape, page: readonly Shown[]): Promise<PageAtHand> {
  try {
    return { found: await indexedSeqs(context, tape, page), writes: await writesOfRows(context, tape, page) };
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { found: new Set(), writes: new Map() };
  }
}

/** More than this many records of the index are not looked up at once. */
const MOST_LOOKUPS = 2_000;

/** Rows whose supplied id leads to them, and on the tapes from the thread's own up to theirs to no other row. */
async function indexedSeqs(context: EngineContext, tape: Tape, page: readonly Shown[]): Promise<ReadonlySet<number>> {
  const lookups: { readonly seq: number; readonly home: boolean; readonly key: Key }[] = [];
  const candidates = new Map<number, boolean>();
  for (const { id, seq, namespace } of page) {
    const home = await homeOf(context, tape, seq);
    // An id that tells its own address needs no index. An id that tells another row's came with an import.
    if (idAddress(id)?.tape === home.number || (home === tape && tape.tailRow(seq))) continue;
    candidates.set(seq, home.tailRow(seq) !== undefined);
    for await (const { tape: level } of levels(context, tape, seq)) {
      const { greatestId } = level.meta;
      const key = level.key("id", ...hashStrings(namespace, id));
      if (greatestId !== undefined && id <= greatestId) lookups.push({ seq, home: level === home, key });
      if (level.tail.some(({ row }) => row.id === id && row.namespace === namespace && row.seq !== seq)) {
        candidates.delete(seq);
      }
    }
  }
  if (lookups.length > MOST_LOOKUPS) return new Set();
  const reads = lookups.map(({ key }) => ({ get: key }));
  const values = reads.length === 0 ? [] : ((await context.read(reads)) as readonly (Value | undefined)[]);
  const found = new Map(candidates);
  for (const [index, { seq, home }] of lookups.entries()) {
    const value = values[index];
    if (value === undefined) continue;
    const [first, ...others] = unwrapJson(value) as readonly number[];
    if (home && !candidates.get(seq) && first === seq && others.length === 0) {
      if (found.has(seq)) found.set(seq, true);
    } else {
      found.delete(seq);
    }
  }
  return new Set([...found].flatMap(([seq, is]) => (is ? [seq] : [])));
}

/** Records that are found by hash: damage there shows only when just that one is looked for. */
const hashed: readonly Table[] = ["id", "head", "write"];

async function verifyHashed(context: EngineContext, tape: Tape, onFault: OnThreadFault): Promise<void> {
  const { number: group } = tape;
  for (const table of hashed) {
    for await (const { item, part, value } of tapeRecords(context, tape, table)) {
      try {
        unwrapJson(value);
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        onFault(new Error(`record ${group}:${item}:${part} of table ${table}: ${fault}`));
      }
    }
  }
}

/** Compares the number of rows with the count that the newest row carries: a record that is missing altogether shows there. */
async function verifyCount(context: EngineContext, tape: Tape, { seqs }: FrameGraph): Promise<void> {
  if (tape.tail.length === 0) return;
  const { metaValue, count, meta } = tape;
  let rows = 0;
  if (isPlain(tape)) for (const seq of seqs) rows += seq > (meta.origin?.upTo ?? 0) ? 1 : 0;
  else {
    for await (const _ of ownRows(context, tape, Number.POSITIVE_INFINITY, undefined, 1, PACKS_AT_ONCE)) {
      rows += 1;
      if (rows % PAGE_ROWS === 0) tape.forgetPacks(PACKS);
    }
  }
  if (rows !== count && tape.metaValue === metaValue && tape.count === count)
    throw new Error(`it has ${rows} checkpoints of its own and should have ${count}`);
}
