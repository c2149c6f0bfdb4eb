import type { Batch, DirectoryKey, Found, Value } from "../../backend.ts";
import type { Delta } from "../../codec/delta/index.ts";
import { seqAfter } from "../../model/seq.ts";
import type { Context } from "../memory/context.ts";
import { newTape } from "../memory/new-tape.ts";
import { Tape } from "../memory/tape.ts";
import { encodeDirectory } from "../records/directory.ts";
import { changeMeta, encodeMeta, type Meta, newMeta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { encodeTailRow, type TailRow } from "../records/tail.ts";
import { BatchBuilder } from "./batch.ts";
import type { Planned } from "./planned.ts";

/** Thrown by a plan that cannot share a draft with the changes planned before it. */
export const ALONE: unique symbol = Symbol("alone");

/** Changes that wait together share a draft until their records are this long: a batch is held in memory as a whole. */
const HEAVY = 16 * 1024 * 1024;

/** The thread when planning began. A commit is refused, or planned again, where it is no longer so. */
export interface Before {
  readonly tape: Tape | undefined;
  readonly meta: Meta | undefined;
  readonly metaValue: Value | undefined;
  readonly lastSeq: number;
  readonly interruptions: number | undefined;
}

/** A thread that the commit adds to the lineage: a fork or a copy. */
export interface NewThread {
  readonly tape: Tape;
  readonly source: Tape;
  /** Rows the thread begins with. */
  readonly rows: Found[];
}

/** The changes of one thread that are planned together, until they are committed as one batch. */
export class Draft {
  readonly context: Context;
  readonly thread: string;
  readonly before: Before;
  /** True if the tape was read just now, rather than remembered. */
  readonly fresh: boolean;
  /** True if an earlier plan of the same changes was refused. */
  readonly retried: boolean;
  /** Nothing more may be planned: no plan can build on this one before it is committed. */
  closed = false;
  /** The records that plans have added, apart from the rows and the meta record. */
  readonly batch: BatchBuilder = new BatchBuilder();
  /** Rows to be committed, in order. */
  readonly planned: Planned[] = [];
  /** Marks that the batch puts on the tape. */
  readonly marks: Found[] = [];
  /** The unsealed rows that remain once the commit has sealed others; undefined where it seals none. */
  unsealed: readonly TailRow[] | undefined;
  newThread: NewThread | undefined;
  /** The commit changes more than is worth following in memory: the tape is read again when it is next needed. */
  rereads = false;
  /** The finished batch, see `batchOf`. */
  built: Promise<Batch | undefined> | undefined;
  #tape: Tape | undefined;
  #meta: Meta | undefined;
  #created = false;
  #removed = false;
  #length = 0;

  constructor(context: Context, thread: string, tape: Tape | undefined, fresh: boolean, retried = false) {
    this.context = context;
    this.thread = thread;
    this.fresh = fresh;
    this.retried = retried;
    this.#tape = tape;
    this.#meta = tape?.meta;
    this.before = {
      tape,
      meta: tape?.meta,
      metaValue: tape?.metaValue,
      lastSeq: tape?.lastSeq ?? 0,
      interruptions: context.interruptions,
    };
  }

  /** Returns the tape as it was before the draft; undefined when the thread does not exist. */
  get existing(): Tape | undefined {
    return this.#created ? undefined : this.#tape;
  }

  /** Returns the tape that the commit writes to: the existing one, or the one that the draft creates. */
  get target(): Tape | undefined {
    return this.#tape;
  }

  /** Returns true if the commit creates the tape. */
  get created(): boolean {
    return this.#created;
  }

  /** Returns true if the commit removes the tape. */
  get removed(): boolean {
    return this.#removed;
  }

  get meta(): Meta | undefined {
    return this.#meta;
  }

  /** Returns the tape, and creates it if there is none. */
  async tape(): Promise<Tape> {
    return this.#tape ?? this.newTape();
  }

  /** Creates a tape under the thread's name; `instead` of another, which has to end with the same commit. */
  async newTape(instead?: Tape): Promise<Tape> {
    const entry = await this.context.directoryEntry(this.thread);
    const meta = newMeta(this.thread, this.context.clock(), instead?.meta.epoch ?? entry?.epoch ?? 0);
    // Another store may have made the thread since it was looked for: then the commit must be refused, and planned again.
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
    this.batch.check(key, entry);
    this.batch.put(key, encodeDirectory({ tape: tape.number, lineage: tape.lineage }));
    return tape;
  }

  /** Returns true if changes of other stores were read since planning began: decisions made before may be wrong. */
  get overtaken(): boolean {
    const tape = this.existing;
    return tape !== undefined && (tape.lastSeq !== this.before.lastSeq || tape.metaValue !== this.before.metaValue);
  }

  /** Returns a function that takes back everything planned after this call. */
  mark(): () => void {
    const takeBack = this.batch.mark();
    const planned = this.planned.length;
    const marks = this.marks.length;
    const tape = this.#tape;
    const meta = this.#meta;
    const created = this.#created;
    const length = this.#length;
    return () => {
      takeBack();
      this.planned.length = planned;
      this.marks.length = marks;
      this.#tape = tape;
      this.#meta = meta;
      this.#created = created;
      this.#length = length;
      // Only a change that is planned alone sets these, and nothing was planned before it.
      this.#removed = false;
      this.newThread = undefined;
      this.unsealed = undefined;
      this.built = undefined;
      this.closed = false;
      this.rereads = false;
    };
  }

  /** Adds a record's length to the draft's. */
  weigh(value: Value): void {
    this.#length += value.length;
  }

  /** Returns how long the records of the draft are together. */
  get length(): number {
    return this.#length;
  }

  /** Returns true if the draft has become so large that the changes still waiting had better go into another. */
  get heavy(): boolean {
    return this.#length > HEAVY;
  }

  /** Changes fields of the meta record. */
  change(change: { readonly [K in keyof Meta]?: Meta[K] | undefined }): void {
    this.#meta = changeMeta(this.#meta as Meta, change);
  }

  /** Lets the tape cease to exist. */
  removeTape(): void {
    this.#removed = true;
  }

  get tapeNumber(): number {
    return (this.#tape as Tape).number;
  }

  /** Returns true if nothing is planned so far. */
  get empty(): boolean {
    return this.#meta === this.before.meta && this.planned.length === 0 && this.batch.writesNothing;
  }

  /** Returns true if a frame is on the thread's own tape rather than on one it was forked from. */
  isOwn(seq: number): boolean {
    return seq > (this.#tape?.meta.origin?.upTo ?? 0);
  }

  get nextSeq(): number {
    const last = this.planned.at(-1)?.tail.row.seq ?? this.#tape?.lastSeq ?? 0;
    return seqAfter(Math.max(last, this.#meta?.floor ?? 0), this.thread);
  }

  /** Lets no later row have a seq up to this one. */
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

  /** Puts a mark beside a row. A draft with a mark takes no further plan: finding rows does not look at planned marks. */
  putMark(seq: number, value: Value): void {
    this.batch.put((this.#tape as Tape).key("mark", seq), value);
    this.marks.push({ item: seq, part: 0, value });
    this.change({ marks: true });
    this.closed = true;
  }
}
