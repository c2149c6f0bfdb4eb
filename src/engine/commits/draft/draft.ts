import type { Batch, DirectoryKey, Found, Value } from "../../../backend.ts";
import { sizeOf } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import type { ChangeKind } from "../../../model/interface/watched-changes.ts";
import { seqAfter } from "../../../model/seq.ts";
import { DraftValues } from "../../bodies/values/draft-values.ts";
import type { EngineContext } from "../../memory/context.ts";
import { newTape } from "../../memory/new-tape.ts";
import { Tape } from "../../memory/tape.ts";
import type { MailEntry } from "../../records/mail.ts";
import { changeMeta, encodeMeta, type Meta, newMeta } from "../../records/meta.ts";
import type { Row } from "../../records/row.ts";
import { encodeDirectory } from "../../records/store-wide/directory.ts";
import type { LoggedChange } from "../../records/store-wide/log.ts";
import type { TailRow } from "../../records/tail.ts";
import { BatchBuilder } from "../batch/batch.ts";
import { mailRecords, movedMail } from "../moved-mail.ts";
import { DraftWrites, type PlannedWrites } from "./draft-writes.ts";
import type { NewThread, Planned, PlannedControl, ShownEnds } from "./planned.ts";

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

/** The changes of one thread that are planned together, until they are committed as one batch. */
export class Draft {
  readonly context: EngineContext;
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
  /** The large values that the commit inserts or refers to. */
  readonly values: DraftValues;
  /** Lineages in which the commit gives up records that may refer to large values: those that nothing else needs go too. */
  readonly collects: number[] = [];
  /** Objects outside the store that were uploaded for the commit, and those that no record names after it. */
  uploaded: readonly string[] = [];
  discarded: readonly string[] = [];
  /** Rows to be committed, in order. */
  readonly planned: Planned[] = [];
  /** Marks that the batch puts on the tape. */
  readonly marks: Found[] = [];
  /** The unsealed rows that remain once the commit has sealed others; undefined where it seals none. */
  unsealed: readonly TailRow[] | undefined;
  newThread: NewThread | undefined;
  /** Changes that the commit tells watchers of, apart from new rows. */
  readonly told: LoggedChange[] = [];
  /** The thread's workflow, where a change had to find it out for watchers. */
  workflow: string | null | undefined;
  /** When the commit announces new rows to watchers, by the process's own clock: see `announce`. */
  announcedAt: number | undefined;
  /** All entries of the thread are written, whether or not they are there. */
  reindexes = false;
  /** Control writes that the draft saves, by which the status of the thread may change. */
  readonly controls: PlannedControl[] = [];
  /** The writes that rows of the draft may carry, and those that they do. */
  readonly carrying: DraftWrites = new DraftWrites();
  /**
   * The rows that decide the thread's index, where they are not simply the last ones planned; `newest` is undefined for a
   * thread without checkpoints.
   */
  shown: ShownEnds | undefined;
  /** The commit changes more than is worth following in memory: the tape is read again when it is next needed. */
  rereads = false;
  /** Messages that the new tape takes over from a thread of its name that made way, and that no plan has written anew. */
  moved: readonly MailEntry[] = [];
  /** The changed meta record, once the batch is made. */
  metaValue: Value | undefined;
  /** The batch has everything that it needs besides the plans, see `complete`. */
  completed = false;
  /** The finished batch, see `batchOf`. */
  built: Batch | undefined;
  #tape: Tape | undefined;
  #meta: Meta | undefined;
  #created = false;
  #removed = false;
  #length = 0;

  constructor(context: EngineContext, thread: string, tape: Tape | undefined, fresh: boolean, retried = false) {
    this.context = context;
    this.values = new DraftValues(context);
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

  /** Creates a tape under the thread's name; `instead` of another of its lineage, which has to end with the same commit. */
  async newTape(instead?: Tape): Promise<Tape> {
    const entry = await this.context.directoryEntry(this.thread, true);
    const mail = movedMail(entry?.mail ?? []);
    const meta: Meta = {
      ...newMeta(this.thread, this.context.clock(), instead?.meta.epoch ?? entry?.epoch ?? 0),
      ...(mail.count && { mail: mail.count }),
    };
    // Another store may have made the thread since it was looked for: then the commit must be refused, and planned again.
    const isExpected = entry?.tape === instead?.number && entry?.lineage === instead?.lineage;
    this.#tape = this.startTape(meta, isExpected ? entry?.value : undefined, instead?.lineage);
    for (const { key, value } of mailRecords(this.#tape, mail.entries)) this.batch.insert(key, value);
    this.moved = mail.entries;
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
    const number = newTape(this.context.backend, this.retried, lineage === undefined ? meta.thread : undefined);
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
    const takeValuesBack = this.values.mark();
    const planned = this.planned.length;
    const marks = this.marks.length;
    const told = this.told.length;
    const tape = this.#tape;
    const meta = this.#meta;
    const created = this.#created;
    const length = this.#length;
    const controls = this.controls.length;
    const { moved } = this;
    const takeWritesBack = this.carrying.mark();
    return () => {
      takeBack();
      takeValuesBack();
      takeWritesBack();
      this.planned.length = planned;
      this.marks.length = marks;
      this.told.length = told;
      this.moved = moved;
      this.#tape = tape;
      this.#meta = meta;
      this.#created = created;
      this.#length = length;
      this.controls.length = controls;
      // Only a change that is planned alone sets these, and nothing was planned before it.
      this.#removed = false;
      this.newThread = undefined;
      this.shown = undefined;
      this.reindexes = false;
      this.unsealed = undefined;
      this.completed = false;
      this.built = undefined;
      this.closed = false;
      this.rereads = false;
      this.collects.length = 0;
    };
  }

  /** Has the commit tell watchers of a change. Of equal ones in a row, as of several tasks' writes, it tells once. */
  tell(kind: ChangeKind, namespace = "", id: string | null = null, seq?: number): void {
    const last = this.planned.at(-1)?.tail.row.seq ?? this.#tape?.lastSeq ?? 0;
    const before = this.told.at(-1);
    if (before?.[0] === kind && before[1] === namespace && before[2] === id && before[3] === last) return;
    this.told.push(seq === undefined ? [kind, namespace, id, last] : [kind, namespace, id, last, seq]);
  }

  /** Adds a record's length to the draft's. */
  weigh({ length }: { readonly length: number }): void {
    this.#length += length;
  }

  /** Has the commit give up the large values of a lineage that nothing else needs. */
  collect(lineage: number): void {
    if (!this.collects.includes(lineage)) this.collects.push(lineage);
  }

  /** Lets the next row carry writes, if it may. */
  carry(writes: PlannedWrites): boolean {
    const length = sizeOf(writes.entry.writes as unknown as Json, Number.POSITIVE_INFINITY);
    const isCarried = this.carrying.add(this.context, writes, length);
    if (isCarried) this.weigh({ length });
    return isCarried;
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
    return (
      this.#meta === this.before.meta && this.planned.length === 0 && this.batch.writesNothing && this.carrying.empty
    );
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

  /** Returns the row that comes before the next one on the tape itself: the last one planned, or the last unsealed. */
  get previous(): Row | undefined {
    return this.planned.at(-1)?.tail.row ?? this.#tape?.tail.at(-1)?.row;
  }

  /** Puts a mark beside a row. A draft with a mark takes no further plan: finding rows does not look at planned marks. */
  putMark(seq: number, value: Value): void {
    this.batch.put((this.#tape as Tape).key("mark", seq), value);
    this.marks.push({ item: seq, part: 0, value });
    this.change({ marks: true });
    this.closed = true;
  }
}
