import { bundleLine } from "../codec/bundle.ts";
import { type Delta, isReplacement, replacement } from "../codec/delta.ts";
import { ThreadmarkError } from "../errors.ts";
import { ifDamaged } from "./damage.ts";
import type { Engine } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import { PAGE_ROWS } from "./page.ts";
import { type RowRecord, toRecord } from "./row.ts";
import { shownRows } from "./shown-rows.ts";
import { type EncodedWrite, shownWrites, writesOfRows } from "./shown-writes.ts";
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
  | { readonly kind: "end"; readonly id: string; readonly checkpoints: number }
  | { readonly kind: "done"; readonly threads: number };

/** A store as text: one line a record. Each thread stands for itself, with all that it shows. */
export async function* exportStore(store: Engine, threads: readonly string[] | undefined): AsyncGenerator<string> {
  const engine = store.fresh();
  yield bundleLine({ kind: "bundle", version: 1, createdAt: engine.clock() } satisfies BundleRecord);
  let count = 0;
  const source = threads === undefined ? allThreads(engine) : namedThreads(engine, threads);
  for (;;) {
    const next = await store.track(() => source.next());
    if (next.done) break;
    let shown = false;
    const records = exportThread(engine, next.value);
    for (;;) {
      const record = await store.track(() => records.next());
      if (record.done) break;
      shown = true;
      yield bundleLine(record.value);
    }
    if (shown) count += 1;
  }
  yield bundleLine({ kind: "done", threads: count } satisfies BundleRecord);
}

async function* namedThreads(engine: Engine, threads: readonly string[]): AsyncGenerator<Tape> {
  for (const id of threads) {
    const tape = await engine.thread(id);
    if (!tape)
      throw new ThreadmarkError("NOT_FOUND", `There is no thread ${JSON.stringify(id)} to export.`, { thread: id });
    yield tape;
  }
}

/** The records of one thread. None, where it shows no checkpoint. */
export async function* exportThread(engine: Engine, tape: Tape): AsyncGenerator<BundleRecord> {
  const rows: Shown[] = [];
  for await (const row of shownRows(engine, tape)) rows.push(row);
  if (rows.length === 0) return;
  rows.reverse();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const frames = new FrameReader(engine);
  yield { kind: "thread", id: tape.meta.thread, createdAt: tape.meta.createdAt };
  let writes: ReadonlyMap<number, readonly EncodedWrite[]> | undefined;
  for (const [index, row] of rows.entries()) {
    if (index % PAGE_ROWS === 0) {
      await nextTurn();
      writes = await writesOfRows(engine, tape, rows.slice(index, index + PAGE_ROWS)).catch(ifDamaged);
    }
    const parent = bySeq.get(row.parent) ?? (await parentOf(engine, tape, row));
    const change = await changeOf(engine, frames, tape, row, bySeq.get(row.parent));
    const tagged = row.tagged || isReplacement(change);
    yield { kind: "checkpoint", seq: row.seq, row: toRecord({ ...row, parent: parent?.seq ?? 0, tagged }), change };
    // Where one of the page does not read, each is read by itself, and the fault has its checkpoint.
    const own = writes?.get(row.seq) ?? (await shownWrites(engine, tape, row.namespace, row.id));
    if (own.length > 0) yield { kind: "writes", checkpoint: row.id, namespace: row.namespace, writes: own };
  }
  yield { kind: "end", id: tape.meta.thread, checkpoints: rows.length };
}

/** The stored delta, where it builds on what the thread shows of the parent; else the whole body. */
async function changeOf(
  engine: Engine,
  frames: FrameReader,
  tape: Tape,
  row: Shown,
  parent: Shown | undefined,
): Promise<Delta> {
  if (row.replacedBy === undefined && parent && parent.replacedBy === undefined) {
    return (await frames.read(await homeOf(engine, tape, row.seq), row.seq)).change;
  }
  return replacement((await loadShown(engine, tape, row)).tree);
}
