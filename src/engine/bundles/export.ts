import { bundleLine } from "../../codec/bundle.ts";
import { type Delta, isReplacement, replacement } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import { addNames } from "../../codec/references.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { Attributes } from "../../model/attributes.ts";
import type { ExportOptions } from "../../model/interface/store-options.ts";
import { Attempts } from "../../platform/attempts.ts";
import { nextTurn } from "../../platform/turns.ts";
import { FrameReader } from "../bodies/frame-reader.ts";
import { PAGE_ROWS } from "../bodies/load-page.ts";
import { loadShownReferring } from "../bodies/load-tree.ts";
import { FRAME_BYTES, PACKS, PACKS_AT_ONCE } from "../bodies/replay.ts";
import { withStateValues } from "../bodies/state-values.ts";
import { neverRests } from "../faults/attempts.ts";
import { ifDamaged } from "../faults/damage.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import { forgetPacks } from "../lineage/levels.ts";
import { standingOf } from "../lineage/unchanged-since.ts";
import { abortable } from "../memory/abortable.ts";
import type { Context } from "../memory/context.ts";
import { lowerBound, type Tape } from "../memory/tape.ts";
import { allThreads } from "../reads/directory.ts";
import type { MailEntry } from "../records/mail.ts";
import { type Row, type RowRecord, toRecord } from "../records/row.ts";
import { ValueReader } from "../values/read-values.ts";
import { mailOf } from "../view/mail.ts";
import { homeOf, parentOf, rowAt, type Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { type EncodedWrite, writesOfRows } from "../view/shown-writes.ts";

/**
 * The records of a bundle, in order: a header; for each thread itself, its checkpoints with their writes, its messages,
 * an end.
 */
export type BundleRecord =
  | {
      readonly kind: "bundle";
      readonly version: 1 | 2 | 3;
      readonly createdAt: number;
      readonly backup?: BackupHeader;
      /** The wrapped key of the lines that follow, where they are encrypted. */
      readonly encrypted?: string;
    }
  /** A line of an encrypted bundle. */
  | { readonly kind: "sealed"; readonly line: string }
  /** A thread that was deleted since the backup before. */
  | { readonly kind: "deleted"; readonly id: string }
  | {
      readonly kind: "thread";
      readonly id: string;
      readonly createdAt: number;
      /** Absent for none. */
      readonly attributes?: Attributes;
      /** See `Meta.pruner`. */
      readonly pruner?: string;
    }
  /** A large value of the thread. It stands before the records that refer to it by this name. */
  | { readonly kind: "value"; readonly name: string; readonly value: Json }
  | { readonly kind: "checkpoint"; readonly seq: number; readonly row: RowRecord; readonly change: Delta }
  | {
      readonly kind: "writes";
      readonly checkpoint: string;
      readonly namespace: string;
      readonly writes: readonly EncodedWrite[];
    }
  | { readonly kind: "mail"; readonly message: MailEntry }
  | {
      readonly kind: "end";
      readonly id: string;
      readonly checkpoints: number;
      /** How many records of writes there are. Earlier versions did not say. */
      readonly writes?: number;
      /** How many messages there are; absent for none. */
      readonly mail?: number;
    }
  /** Takes back the lines of a thread so far: others changed it meanwhile. The thread may begin again. */
  | { readonly kind: "void"; readonly id: string }
  | { readonly kind: "done"; readonly threads: number; readonly deleted?: number };

/** The part of a header that makes a bundle a backup: the cursor behind what it has, and the one that it goes on from. */
export interface BackupHeader {
  readonly cursor: string;
  readonly since?: string;
}

/** Characters of large values that are kept in memory. */
const VALUE_CHARACTERS = 1024 * 1024;

/** So much of a thread's text is held back until the thread proves to have rested; a longer one is begun before. */
const HELD_CHARACTERS = 4 * 1024 * 1024;

/** Yields a store as text: one line a record. Each thread stands for itself, with all that it shows at one moment. */
export async function* exportStore(store: Context, options: ExportOptions): AsyncGenerator<string> {
  const { threads, after, signal, encrypted } = options;
  signal?.throwIfAborted();
  const context = store.fresh(abortable(store.backend, signal));
  const lines = await bundleLines(store, encrypted === true, {});
  yield lines.header;
  const range = { together: 1, ...(after !== undefined && { after }) };
  const source = threads === undefined ? allThreads(context, range) : namedThreads(context, threads);
  const count = yield* exportTapes(store, context, source, lines.out, options);
  yield lines.out(bundleLine({ kind: "done", threads: count } satisfies BundleRecord));
}

/** The lines of a bundle: its header, and the form in which later lines are given out. */
export interface BundleLines {
  readonly header: string;
  /** Called once for each line, in order. */
  readonly out: (line: string) => string;
}

/** Begins a bundle. */
export async function bundleLines(
  store: Context,
  encrypted: boolean,
  about: { readonly backup?: BackupHeader },
): Promise<BundleLines> {
  const createdAt = store.clock();
  const plain: BundleRecord = { kind: "bundle", version: about.backup ? 3 : 2, createdAt, ...about };
  if (!encrypted) return { header: bundleLine(plain), out: (line) => line };
  if (!store.encryption) throw noKeys();
  const { header, seal } = await store.encryption.sealBundle();
  return {
    header: bundleLine({ ...plain, version: 3, encrypted: header } satisfies BundleRecord),
    out: (line) => bundleLine({ kind: "sealed", line: seal(line) } satisfies BundleRecord),
  };
}

function noKeys(): ThreadmarkError {
  return new ThreadmarkError(
    "KEY",
    "The store was opened without encryption, so it has no key for the bundle. Open it with encryption: { current, keys }.",
  );
}

/** Yields the lines of threads, and returns how many there are. A named one that is gone meanwhile is `NOT_FOUND`. */
export async function* exportTapes(
  store: Context,
  context: Context,
  source: AsyncGenerator<Tape>,
  out: (line: string) => string,
  { threads, progress, signal }: ExportOptions,
): AsyncGenerator<string, number> {
  let count = 0;
  for (;;) {
    const next = await store.calls.track(() => source.next());
    if (next.done) break;
    const { thread } = next.value.meta;
    const lines = new HeldLines();
    const records = exportThread(context, next.value);
    let last: BundleRecord["kind"] | undefined;
    for (;;) {
      const record = await store.calls.track(() => records.next());
      if (record.done) break;
      signal?.throwIfAborted();
      last = record.value.kind;
      for (const line of lines.add(record.value)) yield out(line);
    }
    // It was deleted meanwhile.
    if (last === undefined || last === "void") {
      if (threads && !(await context.thread(thread))) throw nothingToExport(thread);
    } else count += 1;
    for (const line of lines.rest()) yield out(line);
    signal?.throwIfAborted();
    progress?.(count, thread);
  }
  return count;
}

/** The lines of a thread that are not out yet. */
class HeldLines {
  #lines: string[] = [];
  #characters = 0;
  #begun = false;

  *add(record: BundleRecord): Generator<string> {
    if (record.kind === "void" && !this.#begun) {
      this.#lines = [];
      this.#characters = 0;
      return;
    }
    const line = bundleLine(record);
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters <= HELD_CHARACTERS && record.kind !== "void") return;
    this.#begun = record.kind !== "void";
    yield* this.rest();
  }

  *rest(): Generator<string> {
    yield* this.#lines;
    this.#lines = [];
    this.#characters = 0;
  }
}

async function* namedThreads(context: Context, threads: readonly string[]): AsyncGenerator<Tape> {
  // A bundle in which a thread stands twice is refused.
  for (const id of new Set(threads)) {
    const tape = await context.thread(id);
    if (!tape) throw nothingToExport(id);
    yield tape;
  }
}

function nothingToExport(thread: string): ThreadmarkError {
  return new ThreadmarkError(
    "NOT_FOUND",
    `There is no thread ${JSON.stringify(thread)} to export. See store.threads().`,
    { thread },
  );
}

/**
 * Yields the records of one thread as it was at one moment. Where others change the thread meanwhile, they are followed by
 * a `void`, and by the records of a later moment, if the thread is still there. None, where it shows no checkpoint.
 */
export async function* exportThread(known: Context, found: Tape): AsyncGenerator<BundleRecord> {
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
export async function* threadRecords(context: Context, tape: Tape): AsyncGenerator<BundleRecord> {
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
      // Where one of the page does not read, each is read by itself, and the fault has its checkpoint.
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
  context: Context,
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

  constructor(context: Context, tape: Tape) {
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
  context: Context,
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
  context: Context,
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
