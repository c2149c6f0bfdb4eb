import type { DirectoryKey, Key, Range, Size, Table, Value } from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import { compareIds } from "../../shared/id-order.ts";
import { Ordered } from "../../shared/ordered-map.ts";
import { corrupt, movedLines, newerFormat } from "../faults.ts";
import type { Change } from "../format/change.ts";
import { directoryLineage, formatVersion, lastInteger } from "../format/change.ts";
import type { Line } from "../format/line.ts";
import { hex } from "../format/line.ts";
import type { Sink } from "./position.ts";

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

export interface Place {
  readonly item: number;
  readonly part: number;
}

export interface Name {
  readonly id: string;
}

/** What a line tells of the record in it. */
type Whereabouts = Pick<Line, "offset" | "length" | "number" | "crc" | "valueBytes">;

export type RecordSlot = Slot & Place;
export type NameSlot = Slot & Name;

type Group = Ordered<Place, RecordSlot>;
type Sizes = Record<Table | "directory", { records: number; bytes: number }>;

/** Which records a journal holds, and where. The values stay in the file. */
export class RecordIndex implements Sink {
  readonly #path: string;
  readonly #lineage: number;
  readonly #groups: Readonly<Record<Table, Map<number, Group>>>;
  readonly #names = new Ordered<Name, NameSlot>((a, b) => compareIds(a.id, b.id));
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
    const { change } = line;
    const kept = typeof value === "string" && change.is === "put" && change.table === "meta" ? value : undefined;
    this.#apply(change, line, undefined, kept);
    if (line.joint) this.hasJoint = true;
  }

  /** Of a damaged line all but the value is known: what it deleted is deleted, and what it put cannot be read. */
  damaged(change: Change, { offset, length, number }: Pick<Line, "offset" | "length" | "number">): void {
    this.#apply(change, { offset, length, number, crc: 0, valueBytes: 0 }, false, undefined);
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
    const { from = 0, to = lastInteger } = range;
    const group = this.#group(range);
    if (this.#lost !== undefined) throw this.#lostFault();
    const slots: RecordSlot[] = [];
    if (group === undefined || from > to || limit <= 0) return slots;
    const entries = reverse ? group.downFrom({ item: to, part: lastInteger }) : group.upFrom({ item: from, part: 0 });
    for (const slot of entries) {
      if (slot.item < from || slot.item > to) break;
      slots.push(slot);
      if (slots.length >= limit) break;
    }
    return slots;
  }

  list(prefix: string, after: string | undefined, limit: number): NameSlot[] {
    if (this.#lost !== undefined) throw this.#lostFault();
    const slots: NameSlot[] = [];
    if (limit <= 0) return slots;
    const from = after !== undefined && compareIds(after, prefix) > 0 ? after : prefix;
    for (const slot of this.#names.upFrom({ id: from })) {
      if (!slot.id.startsWith(prefix)) break;
      if (slot.id === after) continue;
      slots.push(slot);
      if (slots.length >= limit) break;
    }
    return slots;
  }

  /** Whether a tape of this number is known here. A damaged journal may have had more. */
  hasTape(number: number): boolean {
    return this.#groups.meta.get(this.#lineage)?.get({ item: number, part: 0 }) !== undefined;
  }

  /** Whether there is, or may be, something for a delete to remove. */
  mayHold(change: Change): boolean {
    if (this.#lost !== undefined) return true;
    if (change.is === "unname") return this.#names.get(change) !== undefined;
    if (change.is !== "delete") return true;
    const low = { item: change.from, part: change.part ?? 0 };
    for (const { item, part } of this.#group(change)?.upFrom(low) ?? []) {
      return item < change.to || (item === change.to && part <= (change.part ?? lastInteger));
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
  *commits(): Generator<Change & { readonly is: "commits" }> {
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
  *live(): Generator<readonly [Change, Slot]> {
    if (this.#lost !== undefined) throw this.#lostFault();
    for (const slot of this.#names) yield [{ is: "name", id: slot.id }, slot];
    for (const [table, groups] of Object.entries(this.#groups) as [Table, Map<number, Group>][]) {
      for (const [group, slots] of groups) {
        for (const slot of slots) yield [{ is: "put", table, group, item: slot.item, part: slot.part }, slot];
      }
    }
  }

  #apply(change: Change, at: Whereabouts, sound: boolean | undefined, value: string | undefined): void {
    const { offset, length, number: line, crc, valueBytes } = at;
    switch (change.is) {
      case "put": {
        const { table, group, item, part } = change;
        const slot = { item, part, offset, length, line, crc, valueBytes, sound, value };
        const previous = this.#groupToFill(table, group).set(slot);
        this.#add(table, slot, valueBytes);
        if (previous !== undefined) this.#drop(table, previous, previous.valueBytes);
        return;
      }
      case "name": {
        const { id } = change;
        const slot = { id, offset, length, line, crc, valueBytes, sound, value };
        const previous = this.#names.set(slot);
        this.#add("directory", slot, valueBytes + Buffer.byteLength(id));
        if (previous !== undefined) this.#dropName(previous);
        return;
      }
      case "delete": {
        const low = { item: change.from, part: change.part ?? 0 };
        const high = { item: change.to, part: change.part ?? lastInteger };
        const group = this.#group(change);
        for (const removed of group?.remove(low, high) ?? []) this.#drop(change.table, removed, removed.valueBytes);
        if (group?.isEmpty) this.#groups[change.table].delete(change.group);
        return;
      }
      case "unname":
        for (const removed of this.#names.remove(change, change)) this.#dropName(removed);
        return;
      case "commits":
        this.#commits.add(commitName(change.lineage, change.batch, change.mark));
        this.liveBytes += length;
        return;
      case "format":
        this.#checkFormat(change.format, change.lineage);
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
    throw corrupt(this.#path, 1, `this is the journal of ${owner}, under the name of another`);
  }

  #group({ table, group }: { readonly table: Table; readonly group: number }): Group | undefined {
    return this.#groups[table].get(group);
  }

  #groupToFill(table: Table, number: number): Group {
    const groups = this.#groups[table];
    let group = groups.get(number);
    if (group === undefined) {
      group = new Ordered(comparePlaces);
      groups.set(number, group);
    }
    return group;
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
    return corrupt(this.#path, line, "the journal is damaged here, and what it said cannot be told");
  }
}

export function emptySizes(): Sizes {
  const names = [...(Object.keys(tables) as Table[]), "directory"] as const;
  return Object.fromEntries(names.map((name) => [name, { records: 0, bytes: 0 }])) as Sizes;
}

function comparePlaces(a: Place, b: Place): number {
  return a.item - b.item || a.part - b.part;
}

function commitName(lineage: number, batch: number, mark: string): string {
  return `${lineage} ${batch} ${mark}`;
}
