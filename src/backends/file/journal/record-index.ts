import type { DirectoryKey, Key, Range, Size, Table, Value } from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import { lastInteger } from "../../shared/key-bounds.ts";
import type { Ordered } from "../../shared/ordered-map.ts";
import type { Id, ItemKey } from "../../shared/ordered-records.ts";
import { groupToFill, listDirectory, orderedById, scanGroup } from "../../shared/ordered-records.ts";
import { damagedJournal, movedLines, newerFormat } from "../faults.ts";
import type { Line } from "../format/line.ts";
import { hex } from "../format/line.ts";
import type { Operation } from "../format/operation.ts";
import { directoryLineage, formatVersion } from "../format/operation.ts";
import type { Sink } from "./batch-boundary.ts";

/** Where a record's line is, and what is known of it. */
export interface Slot {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly crc: number;
  readonly valueBytes: number;
  /** Whether the line's checksum was computed and held. False: it does not hold. Undefined: not looked at yet. */
  sound: boolean | undefined;
  /** Kept for records that every commit checks, if it is text. */
  value: string | undefined;
}

/** What a line tells of the record in it. */
type Whereabouts = Pick<Line, "offset" | "length" | "number" | "crc" | "valueBytes">;

export type RecordSlot = Slot & ItemKey;
export type NameSlot = Slot & Id;

type Group = Ordered<ItemKey, RecordSlot>;
type Sizes = Record<Table | "directory", { records: number; bytes: number }>;

/** Which records a journal holds, and where. The values stay in the file. */
export class RecordIndex implements Sink {
  readonly #path: string;
  readonly #lineage: number;
  readonly #groups: Readonly<Record<Table, Map<number, Group>>>;
  readonly #names = orderedById<NameSlot>();
  readonly #commits = new Set<string>();
  readonly #sizes: Sizes;
  /** The last stretch of the journal of which nothing is known: it may have changed anything that comes before it. */
  #lost: Pick<Line, "offset" | "number"> | undefined;
  #isMoved = false;
  /** Bytes of the lines that are still needed. */
  liveBytes = 0;
  /** How many live records there are. */
  count = 0;
  /** Whether the journal holds joint batches: the directory must remember which of them count. */
  hasJoint = false;

  constructor(path: string, lineage: number) {
    this.#path = path;
    this.#lineage = lineage;
    this.#sizes = emptySizes();
    const tableNames = Object.keys(tables) as Table[];
    this.#groups = Object.fromEntries(tableNames.map((name) => [name, new Map()])) as Record<Table, Map<number, Group>>;
  }

  get sizes(): Readonly<Record<Table | "directory", Size>> {
    return this.#sizes;
  }

  /** `value` is kept if it is one that every commit checks. */
  record(line: Line, value?: Value): void {
    const { operation } = line;
    const kept = typeof value === "string" && operation.is === "put" && operation.table === "meta" ? value : undefined;
    this.#apply(operation, line, undefined, kept);
    if (line.joint) this.hasJoint = true;
  }

  /** Of a damaged line all but the value is known: what it deleted is deleted, and what it put cannot be read. */
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

  /** Whether a tape of this number is known here. A damaged journal may have had more. */
  hasTape(number: number): boolean {
    return this.#groups.meta.get(this.#lineage)?.get({ item: number, part: 0 }) !== undefined;
  }

  /** Whether there is, or may be, something for a delete to remove. */
  mayHold(operation: Operation): boolean {
    if (this.#lost !== undefined) return true;
    if (operation.is === "unname") return this.#names.get(operation) !== undefined;
    if (operation.is !== "delete") return true;
    const low = { item: operation.from, part: operation.part ?? 0 };
    for (const { item, part } of this.#group(operation)?.upFrom(low) ?? []) {
      return item < operation.to || (item === operation.to && part <= (operation.part ?? lastInteger));
    }
    return false;
  }

  /** Whether the directory says that a joint batch counts. When it cannot tell, that is a fault. */
  hasCommitted(lineage: number, batch: number, crc: number): boolean {
    if (this.#commits.has(commitName(lineage, batch, hex(crc)))) return true;
    if (this.#lost !== undefined) throw this.#lostFault();
    return false;
  }

  /** The joint batches that count, as changes, to be written anew when the directory is compacted. */
  *commits(): Generator<Operation & { readonly is: "commits" }> {
    for (const name of this.#commits) {
      const [lineage, batch, mark] = name.split(" ") as [string, string, string];
      yield { is: "commits", lineage: Number(lineage), batch: Number(batch), mark };
    }
  }

  /** Whether nothing would be lost with the journal. */
  get isEmpty(): boolean {
    return this.count === 0 && this.#commits.size === 0 && this.#lost === undefined;
  }

  /** All live records with the change that puts them, in the order of their keys. */
  *live(): Generator<readonly [Operation, Slot]> {
    if (this.#lost !== undefined) throw this.#lostFault();
    for (const slot of this.#names) yield [{ is: "name", id: slot.id }, slot];
    for (const [table, groups] of Object.entries(this.#groups) as [Table, Map<number, Group>][]) {
      for (const [group, slots] of groups) {
        for (const slot of slots) yield [{ is: "put", table, group, item: slot.item, part: slot.part }, slot];
      }
    }
  }

  #apply(operation: Operation, at: Whereabouts, sound: boolean | undefined, value: string | undefined): void {
    const { offset, length, number: line, crc, valueBytes } = at;
    switch (operation.is) {
      case "put": {
        const { table, group, item, part } = operation;
        const slot = { item, part, offset, length, line, crc, valueBytes, sound, value };
        const previous = groupToFill(this.#groups[table], group).set(slot);
        this.#add(table, slot, valueBytes);
        if (previous !== undefined) this.#drop(table, previous, previous.valueBytes);
        return;
      }
      case "name": {
        const { id } = operation;
        const slot = { id, offset, length, line, crc, valueBytes, sound, value };
        const previous = this.#names.set(slot);
        this.#add("directory", slot, valueBytes + Buffer.byteLength(id));
        if (previous !== undefined) this.#dropName(previous);
        return;
      }
      case "delete": {
        const low = { item: operation.from, part: operation.part ?? 0 };
        const high = { item: operation.to, part: operation.part ?? lastInteger };
        const group = this.#group(operation);
        for (const removed of group?.remove(low, high) ?? []) this.#drop(operation.table, removed, removed.valueBytes);
        if (group?.isEmpty) this.#groups[operation.table].delete(operation.group);
        return;
      }
      case "unname":
        for (const removed of this.#names.remove(operation, operation)) this.#dropName(removed);
        return;
      case "commits":
        this.#commits.add(commitName(operation.lineage, operation.batch, operation.mark));
        this.liveBytes += length;
        return;
      case "format":
        this.#checkFormat(operation.format, operation.lineage);
        this.liveBytes += length;
        return;
      case "seal":
        this.liveBytes += length;
        return;
    }
  }

  #checkFormat(format: number, lineage: number): void {
    if (format > formatVersion) throw newerFormat(this.#path, format, formatVersion);
    if (lineage === this.#lineage) return;
    const owner = lineage === directoryLineage ? "the directory" : `lineage ${lineage}`;
    throw damagedJournal(this.#path, 1, `this is the journal of ${owner}, under the name of another`);
  }

  #group({ table, group }: { readonly table: Table; readonly group: number }): Group | undefined {
    return this.#groups[table].get(group);
  }

  #add(table: Table | "directory", slot: Slot, bytes: number): void {
    this.#sizes[table].records++;
    this.#sizes[table].bytes += bytes;
    this.liveBytes += slot.length;
    this.count++;
  }

  #drop(table: Table | "directory", slot: Slot, bytes: number): void {
    this.#sizes[table].records--;
    this.#sizes[table].bytes -= bytes;
    this.liveBytes -= slot.length;
    this.count--;
  }

  #dropName(slot: NameSlot): void {
    this.#drop("directory", slot, slot.valueBytes + Buffer.byteLength(slot.id));
  }

  #lostFault(): Error {
    const line = this.#lost?.number ?? 0;
    if (this.#isMoved) return movedLines(this.#path, line);
    return damagedJournal(this.#path, line, "the journal is damaged here, and what it said cannot be told");
  }
}

export function emptySizes(): Sizes {
  const names = [...(Object.keys(tables) as Table[]), "directory"] as const;
  return Object.fromEntries(names.map((name) => [name, { records: 0, bytes: 0 }])) as Sizes;
}

function commitName(lineage: number, batch: number, mark: string): string {
  return `${lineage} ${batch} ${mark}`;
}
