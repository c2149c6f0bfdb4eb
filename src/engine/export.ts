import { bundleLine } from "../codec/bundle.ts";
import { type Delta, isReplacement, replacement } from "../codec/delta.ts";
import { ThreadmarkError } from "../errors.ts";
import { ifDamaged, isCorrupt } from "./damage.ts";
import type { Engine } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import { PAGE_ROWS } from "./page.ts";
import { type Row, type RowRecord, toRecord } from "./row.ts";
import { shownRows } from "./shown-rows.ts";
import { type EncodedWrite, shownWrites, writesOfRows } from "./shown-writes.ts";
import { standingOf } from "./standing.ts";
import type { Tape } from "./tape.ts";
import { allThreads } from "./threads.ts";
import { loadShown } from "./tree.ts";
import { nextTurn } from "./turn.ts";
import { homeOf, parentOf, type Shown } from "./view.ts";

/** The records of a bundle, in order: a header; for each thread itself, its checkpoints with their writes, an end. */
export type BundleRecord =
  | { readonly kind: "bundle"; readonly version: 1; readonly createdAt: number }
  | { readonly kind: "thread"; readonly id: string; readonly createdAt: number }
  | { readonly kind: "checkpoint"; readonly seq: number; readonly row: RowRecord; readonly change: Delta }
  | {
      readonly kind: "writes";
      readonly checkpoint: string;
      readonly namespace: string;
      readonly writes: readonly EncodedWrite[];
    }
  | {
      readonly kind: "end";
      readonly id: string;
      readonly checkpoints: number;
      /** How many records of writes there are. Earlier versions did not say. */
      readonly writes?: number;
    }
  | { readonly kind: "done"; readonly threads: number };

/** How often a thread is begun again because others have changed it while it was read. */
const ATTEMPTS = 20;

/**
 * A store as text: one line a record. Each thread stands for itself, with all that it shows, as it was at one moment. Its
 * records are held in memory until it is complete: only then is it known that they go together.
 */
export async function* exportStore(store: Engine, threads: readonly string[] | undefined): AsyncGenerator<string> {
  const engine = store.fresh();
  yield bundleLine({ kind: "bundle", version: 1, createdAt: engine.clock() } satisfies BundleRecord);
  let count = 0;
  const source = threads === undefined ? allThreads(engine) : namedThreads(engine, threads);
  for (;;) {
    const next = await store.track(() => source.next());
    if (next.done) break;
    const { thread } = next.value.meta;
    const records = await store.track(() => exportThread(engine, next.value));
    // It was deleted meanwhile.
    if (!records && threads) throw nothingToExport(thread);
    if (!records || records.length === 0) continue;
    count += 1;
    for (const record of records) yield bundleLine(record);
  }
  yield bundleLine({ kind: "done", threads: count } satisfies BundleRecord);
}

async function* namedThreads(engine: Engine, threads: readonly string[]): AsyncGenerator<Tape> {
  // A bundle in which a thread stands twice is refused.
  for (const id of new Set(threads)) {
    const tape = await engine.thread(id);
    if (!tape) throw nothingToExport(id);
    yield tape;
  }
}

function nothingToExport(thread: string): ThreadmarkError {
  return new ThreadmarkError("NOT_FOUND", `There is no thread ${JSON.stringify(thread)} to export.`, { thread });
}

/** All records of one thread as it was at one moment; undefined, where there is no such thread any more. */
export async function exportThread(known: Engine, found: Tape): Promise<readonly BundleRecord[] | undefined> {
  const { thread } = found.meta;
  let engine = known;
  let tape: Tape | undefined = found;
  for (let attempt = 1; tape; attempt += 1) {
    const holds = await standingOf(engine, tape);
    let fault: ThreadmarkError;
    try {
      const records: BundleRecord[] = [];
      for await (const record of threadRecords(engine, tape)) records.push(record);
      if (await holds()) return records;
      fault = neverRests(thread);
    } catch (error) {
      if (!isCorrupt(error) || (await holds())) throw error;
      fault = error;
    }
    if (attempt === ATTEMPTS) throw fault;
    // What is remembered may be of either side of the change.
    engine = known.fresh();
    tape = await engine.thread(thread);
  }
  return undefined;
}

function neverRests(thread: string): ThreadmarkError {
  return new ThreadmarkError(
    "BACKEND",
    `Thread ${JSON.stringify(thread)} was changed by others ${ATTEMPTS} times in a row while it was exported. Try again.`,
    { thread },
  );
}

/** The records of one thread, as they are found. None, where it shows no checkpoint. */
async function* threadRecords(engine: Engine, tape: Tape): AsyncGenerator<BundleRecord> {
  const rows: Shown[] = [];
  for await (const row of shownRows(engine, tape)) rows.push(row);
  if (rows.length === 0) return;
  rows.reverse();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const frames = new FrameReader(engine);
  yield { kind: "thread", id: tape.meta.thread, createdAt: tape.meta.createdAt };
  let writes: ReadonlyMap<number, readonly EncodedWrite[]> | undefined;
  let written = 0;
  for (const [index, row] of rows.entries()) {
    if (index % PAGE_ROWS === 0) {
      await nextTurn();
      writes = await writesOfRows(engine, tape, rows.slice(index, index + PAGE_ROWS)).catch(ifDamaged);
    }
    const parent = bySeq.get(row.parent) ?? (await parentOf(engine, tape, row));
    const change = await changeOf(engine, frames, tape, row, bySeq.get(row.base));
    const tagged = row.tagged || isReplacement(change);
    const seq = parent?.seq ?? 0;
    const told: Row = { ...row, parent: seq, base: isReplacement(change) ? seq : row.base, tagged };
    yield { kind: "checkpoint", seq: row.seq, row: toRecord(told), change };
    // Where one of the page does not read, each is read by itself, and the fault has its checkpoint.
    const own = writes?.get(row.seq) ?? (await shownWrites(engine, tape, row.namespace, row.id));
    if (own.length === 0) continue;
    written += 1;
    yield { kind: "writes", checkpoint: row.id, namespace: row.namespace, writes: own };
  }
  yield { kind: "end", id: tape.meta.thread, checkpoints: rows.length, writes: written };
}

/** The stored delta, where what it builds on is shown by the thread, and as it was; else the whole body. */
async function changeOf(
  engine: Engine,
  frames: FrameReader,
  tape: Tape,
  row: Shown,
  base: Shown | undefined,
): Promise<Delta> {
  if (row.replacedBy === undefined && base && base.replacedBy === undefined) {
    return (await frames.read(await homeOf(engine, tape, row.seq), row.seq)).change;
  }
  return replacement((await loadShown(engine, tape, row)).tree);
}
