import type { Found, Key, Table, Value } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { lowerBound } from "../../model/seq.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { Head } from "../records/heads.ts";
import { metaKey, tapeName } from "../records/keys.ts";
import type { MarkVersion } from "../records/marks.ts";
import { decodeMeta, isGone, type Meta } from "../records/meta.ts";
import { type DecodedRows, decodePackRows } from "../records/pack/rows.ts";
import type { Row } from "../records/row.ts";
import { decodeTailRow, type TailRow } from "../records/tail.ts";
import type { LooseWrites } from "../records/writes.ts";

/** Estimated bytes in memory: a tape with nothing in it, a row without its frame, the rows of a pack. */
const TAPE_WEIGHT = 2_000;
const ROW_WEIGHT = 400;
const PACK_WEIGHT = 64 * ROW_WEIGHT;

/** Bytes worth reading ahead, and packs to read ahead in any case. */
const READ_AHEAD = 16 * 1024 * 1024;
const LEAST_PACKS = 4;

/** Rows left unsealed: the head and its parent, which a read of the head begins with. */
export const UNSEALED = 2;

export interface Damaged {
  readonly seq: number;
  readonly error: ThreadmarkError;
}

export interface LoadedPack extends Readonly<DecodedRows> {
  readonly last: number;
}

/** The inherited ancestors of a fork in a namespace, as far as they were walked. */
export interface ForkChain {
  readonly seqs: number[];
  next: number;
  /** The number of folds in the fork's meta record when the walk began. */
  readonly folds: number | undefined;
}

/**
 * A remembered tape: the physical home of the checkpoints that one thread committed. Forks read the tapes of their
 * ancestors. Everything here can be read again; `meta` tells whether it is still true.
 */
export class Tape {
  readonly number: number;
  readonly lineage: number;
  /** Names the tape among those of all lineages: see {@link tapeName}. */
  readonly name: string;
  metaValue: Value;
  meta: Meta;
  #tail: TailRow[] = [];
  /** The greatest id of an unsealed row: ids mostly ascend, so that a new one need not be looked for. */
  #greatestId = "";
  #tailBytes = 0;
  #tailLength = 0;
  /** Unsealed rows whose record cannot be read, by seq, ascending: they count, but cannot be shown. */
  damaged: Damaged[] = [];
  marks: ReadonlyMap<number, readonly MarkVersion[]> = new Map();
  /** Packs whose rows were read, by their last seq, ascending. */
  packs: LoadedPack[] = [];
  /** By seq, the number of rows from a row to its root, as far as that was asked. */
  lengths: Map<number, number> = new Map();
  /**
   * True if packs were read that a compaction has written since the meta record was read: they do not match the rest.
   */
  outdated = false;
  /** The tape this one builds on, once it was read after the fork; the part that the fork shows does not change. */
  source: Tape | undefined;
  /** Namespaces of the tapes this one builds on. */
  namespaces: ReadonlySet<string> | undefined;
  /** The row whose body was read from storage last. */
  lastLoaded = 0;
  /** Chains of inherited ancestors by namespace. */
  readonly chains: Map<string, ForkChain> = new Map();
  /**
   * Heads of nested namespaces among the sealed rows, as far as they were asked; valid for this version of the meta
   * record.
   */
  readonly heads: Map<string, Head | undefined> = new Map();
  /** When this process last announced rows of the tape to watchers, by its own clock. */
  announcedAt: number = Number.NEGATIVE_INFINITY;
  /** Writes against the last row that this process has committed, each with a record of its own: the next row may carry them. */
  loose: readonly LooseWrites[] = [];
  /** Called when the tape has grown without a commit. */
  grown: (() => void) | undefined;

  constructor(number: number, lineage: number, metaValue: Value) {
    this.number = number;
    this.lineage = lineage;
    this.name = tapeName(lineage, number);
    this.metaValue = metaValue;
    this.meta = decodeMeta(metaValue);
  }

  /** Returns the unsealed rows by seq, ascending. */
  get tail(): readonly TailRow[] {
    return this.#tail;
  }

  set tail(rows: readonly TailRow[]) {
    this.#tail = [];
    this.#greatestId = "";
    this.#tailBytes = 0;
    this.#tailLength = 0;
    for (const row of rows) this.push(row);
  }

  /** Adds the next unsealed row. */
  push(row: TailRow): void {
    this.#tail.push(row);
    if (row.row.id > this.#greatestId) this.#greatestId = row.row.id;
    this.#tailLength += row.value.length;
    // The text and the row; a parsed frame that was not taken yet weighs as much again.
    this.#tailBytes += ROW_WEIGHT + row.value.length * (row.spare === undefined ? 2 : 4);
  }

  /** Tells whether an unsealed row has this id. */
  hasUnsealed(id: string): boolean {
    return id <= this.#greatestId && this.#tail.some(({ row }) => row.id === id);
  }

  /** Returns the length of all unsealed records together. */
  get tailLength(): number {
    return this.#tailLength;
  }

  /** Returns how many packs may be read ahead, judging by the rows in memory: few where rows are large. */
  get packsAtOnce(): number {
    if (this.#tail.length === 0) return Number.POSITIVE_INFINITY;
    return Math.max(LEAST_PACKS, Math.floor((READ_AHEAD * this.#tail.length) / this.#tailLength));
  }

  /** Returns about how many bytes of memory the tape takes. */
  get bytes(): number {
    return TAPE_WEIGHT + this.#tailBytes + this.packs.length * PACK_WEIGHT;
  }

  key(table: Table, item: number, part = 0): Key {
    return { table, lineage: this.lineage, group: this.number, item, part };
  }

  get metaKey(): Key {
    return metaKey(this.lineage, this.number);
  }

  /** Returns the greatest seq this tape has given out. */
  get lastSeq(): number {
    const { floor, sealed, origin } = this.meta;
    return Math.max(this.tail.at(-1)?.row.seq ?? 0, this.damaged.at(-1)?.seq ?? 0, floor, sealed, origin?.upTo ?? 0);
  }

  /** Returns the seq of the last row of the root namespace that this tape itself committed; 0 if none. */
  get lastRoot(): number {
    return this.tail.at(-1)?.root || this.meta.rootSealed;
  }

  /** Returns how many rows the tape has committed, deleted ones included. */
  get count(): number {
    return this.tail.at(-1)?.count ?? this.meta.removed;
  }

  /** Takes over another version of the meta record, and forgets everything that may differ under it. */
  adopt(metaValue: Value): void {
    const { rewrites, folds, origin } = this.meta;
    this.metaValue = metaValue;
    this.meta = decodeMeta(metaValue);
    this.outdated = false;
    this.heads.clear();
    // A compaction may have moved where a fork begins.
    if (JSON.stringify(this.meta.origin) !== JSON.stringify(origin)) this.chains.clear();
    if (!this.meta.marks) this.marks = new Map();
    if (this.meta.rewrites !== rewrites) {
      this.packs = [];
      this.lengths = new Map();
    }
    if (this.meta.folds !== folds) this.source = undefined;
  }

  /**
   * Takes over a version of the meta record, and rows that were read with it. Returns false if the tape has to be read
   * whole: rows stay as they are only as long as nothing was rewritten.
   */
  follow(metaValue: Value, tail: readonly Found[]): boolean {
    const last = this.lastSeq;
    if (metaValue !== this.metaValue) {
      const meta = decodeMeta(metaValue);
      // Reads may overtake each other, and commits of this process overtake reads: a remembered tape never becomes
      // older.
      if (meta.version < this.meta.version) return true;
      if (meta.rewrites !== this.meta.rewrites || meta.marks) return false;
      this.adopt(metaValue);
      this.tail = this.tail.filter(({ row }) => row.seq > meta.sealed);
      this.damaged = this.damaged.filter(({ seq }) => seq > meta.sealed);
    }
    this.addTail(tail.filter((entry) => entry.item > last));
    return true;
  }

  tailRow(seq: number): TailRow | undefined {
    const index = lowerBound(this.tail, seq, (entry) => entry.row.seq);
    const entry = this.tail[index];
    return entry?.row.seq === seq ? entry : undefined;
  }

  addTail(found: readonly Found[]): void {
    for (const { item, value } of found) {
      try {
        this.push(decodeTailRow(item, value));
      } catch (error) {
        this.damaged.push({ seq: item, error: this.#damage(item, error) });
      }
    }
  }

  /** Throws the fault of a damaged row from `from` on, where that row would have to be known. */
  checkIntact(from = 0): void {
    const damage = this.damaged.find(({ seq }) => seq >= from);
    if (damage) throw damage.error;
  }

  damageAt(seq: number): ThreadmarkError | undefined {
    return this.damaged.find((damage) => damage.seq === seq)?.error;
  }

  #damage(seq: number, error: unknown): ThreadmarkError {
    const frame = `${this.number}:${seq}`;
    const { thread } = this.meta;
    if (error instanceof ThreadmarkError && error.code !== "CORRUPT") throw error;
    const fault = error instanceof Error ? error.message : String(error);
    return new ThreadmarkError("CORRUPT", `Thread ${JSON.stringify(thread)}, frame ${frame}: ${fault}`, {
      thread,
      frame,
      cause: error,
    });
  }

  loadedPack(seq: number): LoadedPack | undefined {
    const pack = this.packs[lowerBound(this.packs, seq, (entry) => entry.last)];
    return pack && (pack.rows[0] as Row).seq <= seq ? pack : undefined;
  }

  addPack(found: Found): LoadedPack {
    let decoded: DecodedRows;
    try {
      decoded = decodePackRows(this.number, found.value);
      if (decoded.rows.at(-1)?.seq !== found.item) throw new Error("The pack does not end with its own row.");
    } catch (error) {
      throw this.#damage(found.item, error);
    }
    const pack: LoadedPack = { last: found.item, ...decoded };
    const index = lowerBound(this.packs, pack.last, (entry) => entry.last);
    if (this.packs[index]?.last !== pack.last) {
      this.packs.splice(index, 0, pack);
      this.grown?.();
    }
    return pack;
  }

  /** Forgets the rows of packs once there are more than `most`: for work that goes through a whole history. */
  forgetPacks(most: number): void {
    if (this.packs.length <= most) return;
    this.packs = [];
    this.grown?.();
  }

  /** Adds the packs that read. A pack that does not is reported when a row of it is needed. */
  addPacks(found: readonly Found[]): void {
    for (const record of found) {
      try {
        this.addPack(record);
      } catch (error) {
        ifDamaged(error);
      }
    }
  }

  /**
   * Compares the meta record that was there when packs were read with the one in memory. `newer`: rows may have gone
   * back to the tail since. `older`: the packs must not be remembered, since nothing would make them forgotten.
   */
  readUnder(metaValue: Value | undefined): "same" | "newer" | "older" {
    if (metaValue === undefined || metaValue === this.metaValue) return "same";
    const { folds, rewrites } = decodeMeta(metaValue);
    if (rewrites < this.meta.rewrites) return "older";
    this.outdated ||= folds !== this.meta.folds;
    return rewrites === this.meta.rewrites ? "same" : "newer";
  }

  /** Tells whether a view with this generation shows no row up to a seq, because all of them are hidden. */
  isGoneUpTo(seq: number, generation: number): boolean {
    if (this.meta.origin) return false;
    return this.meta.gone?.some(([from, to, since]) => from === 1 && seq <= to && since <= generation) ?? false;
  }

  /** Tells whether a view with this generation no longer shows the row. */
  isGone(seq: number, generation: number): boolean {
    return isGone(this.meta, seq, generation);
  }
}

/** Returns the runs of a tape's own rows, as far as those were read. */
export function runsOf({ packs, tail }: Tape): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const { rows } of packs) for (const { run } of rows) if (run !== null) runs.add(run);
  for (const { row } of tail) if (row.run !== null) runs.add(row.run);
  return runs;
}
