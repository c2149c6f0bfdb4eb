import type {
  DirectoryKey,
  IndexEntry,
  Key,
  LogLine,
  LogPage,
  LogRange,
  Range,
  Table,
  Value,
} from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import { KeptLog } from "../../shared/kept-log.ts";
import { lastInteger } from "../../shared/key-bounds.ts";
import type { EntryBounds } from "../../shared/ordered/entries.ts";
import { findEntries, orderedEntries, tallyEntries } from "../../shared/ordered/entries.ts";
import type { Ordered } from "../../shared/ordered/map.ts";
import type { Id, ItemKey } from "../../shared/ordered/records.ts";
import { groupToFill, listDirectory, orderedById, scanGroup } from "../../shared/ordered/records.ts";
import { damagedJournal, movedLines, newerFormat } from "../faults.ts";
import type { Line } from "../format/line.ts";
import { hex } from "../format/line.ts";
import type { Operation } from "../format/operation.ts";
import { directoryLineage, formatVersion } from "../format/operation.ts";
import type { Sink } from "./batch-boundary.ts";
import { LiveRecords } from "./live-records.ts";

/** The location of a record's line in the file. */
export interface Slot {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly crc: number;
  readonly valueBytes: number;
  /** Whether the line's checksum holds; undefined if it was not computed yet. */
  sound: boolean | undefined;
  /** The value of a record that every commit checks, if it is text. */
  value: string | undefined;
}

/** The fields of a line that locate its record. */
type RecordLocation = Pick<Line, "offset" | "length" | "number" | "crc" | "valueBytes">;

export type RecordSlot = Slot & ItemKey;
export type NameSlot = Slot & Id;

type Group = Ordered<ItemKey, RecordSlot>;

/** Something whose whole content is in its line's operation, with that line's length. */
type InLine<Content> = Content & { readonly length: number };

/** Maps the records of a journal to their lines. Values stay in the file. */
export class RecordIndex implements Sink {
  readonly #path: string;
  readonly #lineage: number;
  readonly #groups: Readonly<Record<Table, Map<number, Group>>>;
  readonly #names = orderedById<NameSlot>();
  readonly #entries = orderedEntries<InLine<IndexEntry>>();
  readonly #log = new KeptLog<InLine<LogLine>>();
  readonly #commits = new Set<string>();
  /** The live records and the bytes of their lines. */
  readonly live: LiveRecords = new LiveRecords();
  /** The last stretch of unreadable bytes, which may have changed any record before it. */
  #lost: Pick<Line, "offset" | "number"> | undefined;
  #isMoved = false;
  /** Whether the journal holds joint batches, which the directory must go on confirming. */
  hasJoint = false;
  /** The latest format that the journal declares; 0 before its first line. */
  format = 0;

  constructor(path: string, lineage: number) {
    this.#path = path;
    this.#lineage = lineage;
    const tableNames = Object.keys(tables) as Table[];
    this.#groups = Object.fromEntries(tableNames.map((name) => [name, new Map()])) as Record<Table, Map<number, Group>>;
  }

  /** Adds a line. `value` is kept if every commit checks its record. */
  record(line: Line, value?: Value): void {
    const { operation } = line;
    const kept = typeof value === "string" && operation.is === "put" && operation.table === "meta" ? value : undefined;
    this.#apply(operation, line, undefined, kept);
    if (line.joint) this.hasJoint = true;
  }

  /**
   * Adds a damaged line: all but its value is known, so its delete takes effect, and a record that it puts cannot be
   * read.
   */
  damaged(operation: Operation, { offset, length, number }: Pick<Line, "offset" | "length" | "number">): void {
    this.#apply(operation, { offset, length, number, crc: 0, valueBytes: 0 }, false, undefined);
  }

  lost(line: Pick<Line, "offset" | "number">): void {
    this.#lost = line;
  }

  moved(line: Pick<Line, "offset" | "number">): void {
    this.#lost = line;
    this.#isMoved = true;
  }

  get(key: Key | DirectoryKey): Slot | undefined {
    const slot = key.table === "directory" ? this.#names.get(key) : this.#group(key)?.get(key);
    if (this.#lost !== undefined && (slot?.offset ?? -1) < this.#lost.offset) throw this.#lostFault();
    return slot;
  }

  scan(range: Range, reverse: boolean, limit: number): RecordSlot[] {
    if (this.#lost !== undefined) throw this.#lostFault();
    return scanGroup(this.#group(range), range, reverse, limit);
  }

  list(prefix: string, after: string | undefined, limit: number): NameSlot[] {
    if (this.#lost !== undefined) throw this.#lostFault();
    return listDirectory(this.#names, prefix, after, limit);
  }

  find(bounds: EntryBounds, reverse: boolean): IndexEntry[] {
    if (this.#lost !== undefined) throw this.#lostFault();
    return findEntries(this.#entries, bounds, reverse);
  }

  tally(bounds: Pick<EntryBounds, "from" | "to">): number {
    if (this.#lost !== undefined) throw this.#lostFault();
    return tallyEntries(this.#entries, bounds);
  }

  logPage(range: LogRange): LogPage {
    if (this.#lost !== undefined) throw this.#lostFault();
    return this.#log.page(range);
  }

  /** Returns the position of the log's last line; 0 if there was none. */
  get logEnd(): number {
    return this.#log.end;
  }

  /** Returns whether the journal is known to have a tape of this number. A damaged journal may have had more. */
  hasTape(number: number): boolean {
    return this.#groups.meta.get(this.#lineage)?.get({ item: number, part: 0 }) !== undefined;
  }

  /** Returns whether there is, or may be, a record for a delete to remove. */
  mayHold(operation: Operation): boolean {
    if (this.#lost !== undefined) return true;
    if (operation.is === "unname") return this.#names.get(operation) !== undefined;
    if (operation.is === "unentry") return this.#entries.get(operation) !== undefined;
    if (operation.is !== "delete") return true;
    const low = { item: operation.from, part: operation.part ?? 0 };
    for (const { item, part } of this.#group(operation)?.upFrom(low) ?? []) {
      return item < operation.to || (item === operation.to && part <= (operation.part ?? lastInteger));
    }
    return false;
  }

  /** Returns whether the directory confirms a joint batch. Throws when that part of the directory is damaged. */
  hasCommitted(lineage: number, batch: number, crc: number): boolean {
    if (this.#commits.has(commitName(lineage, batch, hex(crc)))) return true;
    if (this.#lost !== undefined) throw this.#lostFault();
    return false;
  }

  /** Yields the confirmations of joint batches, for the rewrite of the directory. */
  *commits(): Generator<Operation & { readonly is: "commits" }> {
    for (const name of this.#commits) {
      const [lineage, batch, mark] = name.split(" ") as [string, string, string];
      yield { is: "commits", lineage: Number(lineage), batch: Number(batch), mark };
    }
  }

  /** Forgets lines beyond the log's bounds: they are garbage from now on. */
  cutLog(exact: boolean): void {
    for (const line of this.#log.cut(exact)) this.live.drop("log", line, Buffer.byteLength(line.text));
  }

  /** Yields the operations of everything that has no value of its own: entries and lines of the log. */
  *withoutValues(): Generator<Operation> {
    if (this.#lost !== undefined) throw this.#lostFault();
    for (const { text, lineage, tape } of this.#entries) yield { is: "entry", text, lineage, tape };
    let position = this.#log.end - this.#log.length;
    for (const { at, text } of this.#log) yield { is: "log", position: ++position, at, text };
  }

  /** Returns whether the journal's file could be removed without loss. */
  get isEmpty(): boolean {
    return this.live.count === 0 && this.#commits.size === 0 && this.#lost === undefined;
  }

  /** Yields all live records with the operation that puts them, in key order. */
  *records(): Generator<readonly [Operation, Slot]> {
    if (this.#lost !== undefined) throw this.#lostFault();
    for (const slot of this.#names) yield [{ is: "name", id: slot.id }, slot];
    for (const [table, groups] of Object.entries(this.#groups) as [Table, Map<number, Group>][]) {
      for (const [group, slots] of groups) {
        for (const slot of slots) yield [{ is: "put", table, group, item: slot.item, part: slot.part }, slot];
      }
    }
  }

  #apply(operation: Operation, at: RecordLocation, sound: boolean | undefined, value: string | undefined): void {
    const { offset, length, number: line, crc, valueBytes } = at;
    switch (operation.is) {
      case "put": {
        const { table, group, item, part } = operation;
        const slot = { item, part, offset, length, line, crc, valueBytes, sound, value };
        const previous = groupToFill(this.#groups[table], group).set(slot);
        this.live.add(table, slot, valueBytes);
        if (previous !== undefined) this.live.drop(table, previous, previous.valueBytes);
        return;
      }
      case "name": {
        const { id } = operation;
        const slot = { id, offset, length, line, crc, valueBytes, sound, value };
        const previous = this.#names.set(slot);
        this.live.add("directory", slot, valueBytes + Buffer.byteLength(id));
        if (previous !== undefined) this.#dropName(previous);
        return;
      }
      case "delete": {
        const low = { item: operation.from, part: operation.part ?? 0 };
        const high = { item: operation.to, part: operation.part ?? lastInteger };
        const group = this.#group(operation);
        for (const removed of group?.remove(low, high) ?? [])
          this.live.drop(operation.table, removed, removed.valueBytes);
        if (group?.isEmpty) this.#groups[operation.table].delete(operation.group);
        return;
      }
      case "unname":
        for (const removed of this.#names.remove(operation, operation)) this.#dropName(removed);
        return;
      case "entry": {
        const { text, lineage, tape } = operation;
        const previous = this.#entries.set({ text, lineage, tape, length });
        this.live.add("entry", { length }, Buffer.byteLength(text));
        if (previous !== undefined) this.live.drop("entry", previous, Buffer.byteLength(text));
        return;
      }
      case "unentry":
        for (const removed of this.#entries.remove(operation, operation)) {
          this.live.drop("entry", removed, Buffer.byteLength(removed.text));
        }
        return;
      case "log": {
        const { at, text, position } = operation;
        if (position <= this.#log.end) return;
        this.#log.add({ at, text, length }, position);
        this.live.add("log", { length }, Buffer.byteLength(text));
        this.cutLog(false);
        return;
      }
      case "commits":
        this.#commits.add(commitName(operation.lineage, operation.batch, operation.mark));
        this.live.bytes += length;
        return;
      case "format":
        this.#checkFormat(operation.format, operation.lineage);
        this.live.bytes += length;
        return;
      case "seal":
        this.live.bytes += length;
        return;
    }
  }

  #checkFormat(format: number, lineage: number): void {
    if (format > formatVersion) throw newerFormat(this.#path, format, formatVersion);
    this.format = Math.max(this.format, format);
    if (lineage === this.#lineage) return;
    const owner = lineage === directoryLineage ? "the directory" : `lineage ${lineage}`;
    throw damagedJournal(this.#path, 1, `this is the journal of ${owner}, under the name of another`);
  }

  #group({ table, group }: { readonly table: Table; readonly group: number }): Group | undefined {
    return this.#groups[table].get(group);
  }

  #dropName(slot: NameSlot): void {
    this.live.drop("directory", slot, slot.valueBytes + Buffer.byteLength(slot.id));
  }

  #lostFault(): Error {
    const line = this.#lost?.number ?? 0;
    if (this.#isMoved) return movedLines(this.#path, line);
    return damagedJournal(this.#path, line, "the journal is damaged here, and what it said cannot be told");
  }
}

function commitName(lineage: number, batch: number, mark: string): string {
  return `${lineage} ${batch} ${mark}`;
}
