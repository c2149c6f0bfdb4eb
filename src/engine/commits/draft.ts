import type { Batch, DirectoryKey, Entry, Key, Range, Value } from "../../backend.ts";
import type { Delta } from "../../codec/delta/index.ts";
import { seqAfter } from "../../model/seq.ts";
import type { Context } from "../memory/context.ts";
import { newTape } from "../memory/new-tape.ts";
import { Tape, UNSEALED } from "../memory/tape.ts";
import { encodeDirectory } from "../records/directory.ts";
import { metaKey } from "../records/keys.ts";
import { changeMeta, encodeMeta, type Meta, newMeta } from "../records/meta.ts";
import { packRuns } from "../records/pack/pack-runs.ts";
import type { Row } from "../records/row.ts";
import { encodeTailRow, type TailRow, tailBytes } from "../records/tail.ts";
import { keepTrees, type Planned } from "./planned.ts";

/** Thrown by a plan that cannot share a draft with what was planned before it. */
export const ALONE: unique symbol = Symbol("alone");

/** Changes that wait together share a draft until their records are this long: a commit is made in memory, as a whole. */
const HEAVY = 16 * 1024 * 1024;

/** Loaded with the first seal, which few short processes come to. */
let sealing: typeof import("./seal.ts") | undefined;

/** What some changes of one thread add up to, until it is committed as one batch. */
export class Draft {
  readonly context: Context;
  readonly thread: string;
  /** Whether the tape was read just now, rather than remembered. */
  readonly fresh: boolean;
  /** Whether an earlier plan of the same changes was refused. */
  readonly retried: boolean;
  /** Nothing more may be planned: what was planned cannot be built on before it is committed. */
  closed = false;
  readonly checks: { readonly key: Key | DirectoryKey; readonly value: Value | undefined }[] = [];
  readonly deletes: (Key | DirectoryKey | Range)[] = [];
  readonly inserts: Entry[] = [];
  readonly puts: Entry[] = [];
  /** Rows to be committed, in order. */
  readonly planned: Planned[] = [];
  /** The commit changes more than is worth following: the tape is read again when it is next needed. */
  rereads = false;
  /** Run after the commit, to bring what is remembered up to date. */
  readonly afterwards: (() => void)[] = [];
  #tape: Tape | undefined;
  #meta: Meta | undefined;
  readonly #metaAtStart: Meta | undefined;
  readonly #metaBefore: Value | undefined;
  readonly #lastBefore: number;
  readonly #interruptions: number | undefined;
  #created = false;
  #removed = false;
  #length = 0;
  #batch: { readonly made: Batch | undefined | Promise<Batch | undefined> } | undefined;

  constructor(context: Context, thread: string, tape: Tape | undefined, fresh: boolean, retried = false) {
    this.context = context;
    this.thread = thread;
    this.fresh = fresh;
    this.retried = retried;
    this.#tape = tape;
    this.#meta = tape?.meta;
    this.#metaAtStart = tape?.meta;
    this.#metaBefore = tape?.metaValue;
    this.#lastBefore = tape?.lastSeq ?? 0;
    this.#interruptions = context.interruptions;
  }

  /** The tape as it was before the draft; undefined when the thread does not exist. */
  get existing(): Tape | undefined {
    return this.#created ? undefined : this.#tape;
  }

  get meta(): Meta | undefined {
    return this.#meta;
  }

  /** The tape, made if need be. */
  async tape(): Promise<Tape> {
    return this.#tape ?? this.newTape();
  }

  /** A new tape under the thread's name; `instead` of another, which has to end with the same commit. */
  async newTape(instead?: Tape): Promise<Tape> {
    const entry = await this.context.directoryEntry(this.thread);
    const meta = newMeta(this.thread, this.context.clock(), instead?.meta.epoch ?? entry?.epoch ?? 0);
    // Somebody else may have made the thread since it was looked for: then this must be refused, and planned again.
    const isExpected = entry?.tape === instead?.number && entry?.lineage === instead?.lineage;
    this.#tape = this.startTape(meta, isExpected ? entry?.value : undefined);
    this.#meta = meta;
    this.#created = true;
    return this.#tape;
  }

  /**
   * Takes a number for a new tape and enters the thread of its meta record into the directory, in place of `entry`. The tape
   * begins a lineage of its own unless it joins one. The caller inserts the meta record, and with that the commit is
   * refused if the number is taken: planned again, the tape gets quite another.
   */
  startTape(meta: Meta, entry: Value | undefined, lineage?: number): Tape {
    const number = newTape(this.retried);
    const tape = new Tape(number, lineage ?? number, encodeMeta(meta));
    const key: DirectoryKey = { table: "directory", id: meta.thread };
    this.checks.push({ key, value: entry });
    this.puts.push({ key, value: encodeDirectory({ tape: tape.number, lineage: tape.lineage }) });
    return tape;
  }

  /** Whether what others did was read since planning began: rows, or a change of rows. What was decided may be wrong. */
  get overtaken(): boolean {
    const tape = this.existing;
    return tape !== undefined && (tape.lastSeq !== this.#lastBefore || tape.metaValue !== this.#metaBefore);
  }

  /** What has been planned so far, to come back to when the next plan fails. */
  mark(): () => void {
    const checks = this.checks.length;
    const deletes = this.deletes.length;
    const inserts = this.inserts.length;
    const puts = this.puts.length;
    const afterwards = this.afterwards.length;
    const planned = this.planned.length;
    const tape = this.#tape;
    const meta = this.#meta;
    const created = this.#created;
    const length = this.#length;
    return () => {
      this.checks.length = checks;
      this.deletes.length = deletes;
      this.inserts.length = inserts;
      this.puts.length = puts;
      this.afterwards.length = afterwards;
      this.planned.length = planned;
      this.#tape = tape;
      this.#meta = meta;
      this.#created = created;
      this.#length = length;
      // Only a change that is planned alone sets these, and nothing was planned before it.
      this.#removed = false;
      this.#batch = undefined;
      this.closed = false;
      this.rereads = false;
    };
  }

  /** Adds a record to what the draft weighs. */
  weigh(value: Value): void {
    this.#length += value.length;
  }

  /** Whether the draft has become so large that what else waits had better go into another. */
  get heavy(): boolean {
    return this.#length > HEAVY;
  }

  /** Changes the meta record. */
  change(change: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void {
    this.#meta = changeMeta(this.#meta as Meta, change);
  }

  /** The tape ceases to exist. */
  removeTape(): void {
    this.#removed = true;
  }

  get tapeNumber(): number {
    return (this.#tape as Tape).number;
  }

  /** Nothing planned so far. */
  get empty(): boolean {
    if (this.#meta !== this.#metaAtStart) return false;
    return this.planned.length + this.inserts.length + this.puts.length + this.deletes.length === 0;
  }

  /** Whether a frame is on the thread's own tape rather than on one it was forked from. */
  isOwn(seq: number): boolean {
    return seq > (this.#tape?.meta.origin?.upTo ?? 0);
  }

  get nextSeq(): number {
    const last = this.planned.at(-1)?.tail.row.seq ?? this.#tape?.lastSeq ?? 0;
    return seqAfter(Math.max(last, this.#meta?.floor ?? 0), this.thread);
  }

  /** No row gets a seq up to this one any more. */
  reserve(seq: number): void {
    if (seq > (this.#meta as Meta).floor) this.change({ floor: seq });
  }

  /** Encodes a row as the next of the tape. With `keep`, the change itself is kept for the seal: it must not change. */
  encodeRow(row: Row, change: Delta, keep = false): TailRow {
    const tape = this.#tape as Tape;
    const previous = this.planned.at(-1)?.tail;
    const count = (previous?.count ?? tape.count) + 1;
    const root = row.namespace === "" ? row.seq : (previous?.root ?? tape.lastRoot);
    const value = encodeTailRow(row, count, root, change, this.context.writer);
    this.weigh(value);
    return { row, value, count, root, change: keep ? change : undefined };
  }

  /**
   * Everything as one batch, or undefined when there is nothing to write. A promise only where storage has to be asked;
   * made once, however often it is asked for.
   */
  batch(): Batch | undefined | Promise<Batch | undefined> {
    this.#batch ??= { made: this.#makeBatch() };
    return this.#batch.made;
  }

  #makeBatch(): Batch | undefined | Promise<Batch | undefined> {
    const tape = this.#tape;
    if (!tape) return undefined;
    const reading = this.#writeRows(tape);
    return reading instanceof Promise ? reading.then(() => this.#gather(tape)) : this.#gather(tape);
  }

  #gather(tape: Tape): Batch | undefined {
    const changed = this.#created || this.#meta !== tape.meta;
    const touched = changed || this.inserts.length + this.puts.length + this.deletes.length > 0;
    if (!touched) return undefined;
    const key = metaKey(tape.lineage, tape.number);
    if (this.#created) this.inserts.push({ key, value: encodeMeta(this.#meta as Meta) });
    else {
      this.checks.push({ key, value: this.#metaBefore });
      if (this.#removed) this.deletes.push(key);
      else if (changed) this.puts.push({ key, value: encodeMeta(this.#meta as Meta) });
    }
    const { checks, deletes, inserts, puts } = this;
    const interruptions = this.#interruptions;
    const last = this.#created ? undefined : tape.tail.at(-1);
    if (interruptions === undefined || last === undefined) return { checks, deletes, inserts, puts };
    const follows = { key: tape.key("tail", last.row.seq), value: last.value, interruptions };
    return { checks, deletes, inserts, puts, follows };
  }

  #writeRows(tape: Tape): Promise<void> | undefined {
    if (this.planned.length === 0) return undefined;
    tape.checkIntact();
    const runs = this.#fullRuns(tape);
    if (runs.length === 0) {
      for (const { tail } of this.planned)
        this.inserts.push({ key: tape.key("tail", tail.row.seq), value: tail.value });
      return undefined;
    }
    const rows = [...tape.tail, ...this.planned.map((planned) => planned.tail)];
    // The new rows go straight into packs, so their keys do not show that nobody else was first: a check must.
    const first = (this.planned[0] as Planned).tail.row.seq;
    this.checks.push({ key: tape.key("tail", first), value: undefined });
    const rest = rows.slice(runs.reduce((count, run) => count + run.length, 0));
    for (const tail of rest) {
      if (tail.row.seq >= first) this.inserts.push({ key: tape.key("tail", tail.row.seq), value: tail.value });
    }
    this.afterwards.push(() => {
      tape.tail = rest;
    });
    if (sealing) return sealing.sealRows(this, tape, runs);
    return import("./seal.ts").then((loaded) => {
      sealing = loaded;
      return loaded.sealRows(this, tape, runs);
    });
  }

  /** The oldest rows that are due to be sealed, a run for each pack. */
  #fullRuns(tape: Tape): readonly (readonly TailRow[])[] {
    const { packRows, packBytes } = this.context;
    const count = tape.tail.length + this.planned.length;
    // Nearly every commit ends here.
    if (count < packRows + UNSEALED && tape.tailLength + this.#length < packBytes) return [];
    const rows = [...tape.tail, ...this.planned.map((planned) => planned.tail)];
    return packRuns(rows.slice(0, -UNSEALED), tailBytes, this.context).full;
  }

  /** The commit succeeded: brings what is remembered up to date, without reading it again. */
  absorb(): void {
    const tape = this.#tape as Tape;
    const interrupted = this.context.interruptions !== this.#interruptions;
    if (this.#removed || this.rereads || interrupted || (!this.#created && tape.metaValue !== this.#metaBefore)) {
      // Gone, or changed too much, or in doubt, or somebody has read a newer version meanwhile. Where the thread is stays known.
      if (this.#removed || this.#created) this.context.forget(this.thread);
      this.context.tapes.forget(tape.number, tape.lineage);
      return;
    }
    if (this.#meta !== tape.meta) tape.adopt(encodeMeta(this.#meta as Meta));
    const last = tape.tail.at(-1)?.row.seq ?? 0;
    for (const { tail } of this.planned) if (tail.row.seq > last) tape.push(tail);
    tape.written ||= this.planned.length > 0;
    for (const run of this.afterwards) run();
    this.context.remember(this.thread, tape);
    keepTrees(this.context.trees, tape, this.planned);
  }

  /**
   * After a lost answer: whether the planned rows are there. Somebody else may have committed another row under the same
   * seq in the same millisecond, which gives it the same id: only the record itself tells whose it is.
   */
  async wasCommitted(): Promise<boolean> {
    const last = this.planned.at(-1)?.tail;
    if (!last || !this.#tape) return false;
    const tape = await this.context.thread(this.thread);
    return tape?.name === this.#tape.name && tape.tailRow(last.row.seq)?.value === last.value;
  }
}
