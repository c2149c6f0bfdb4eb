import type { DirectoryKey, Found, IndexEntry, Key, Listed, Range, Table, Value } from "../../backend.ts";
import { tables } from "../../backend.ts";
import { lastInteger, lastItem } from "../shared/key-bounds.ts";
import { crc16, slotOf } from "./crc16.ts";

/*
 * Where a store lives among the keys of a server. A shard is a hash tag, so all its keys are in one slot of a cluster:
 *
 *   {prefix:7}:l:1234   a lineage: a sorted set, all scores 0, each member a record's key followed by its value
 *   {prefix:7}:d        directory entries, likewise: id, NUL, value
 *   {prefix:7}:e        index entries: text, NUL, lineage, tape
 *   {prefix:7}:g        lines of the log: a stream
 *   {prefix:7}:t        tokens of commits, by time: how a commit is recognised whose answer was lost
 *   {prefix:7}:k        locks of directory entries that a batch of another shard is about to change
 *   {prefix:7}:x        decisions about such batches
 *
 * Members of a sorted set with one score are ordered bytewise. So equality is a lookup of the member, absence a count of the
 * members that begin with the key, and a scan a range.
 */

/** The version of this layout, in the record `{prefix}:layout`. Version 1 had no number of a tape from 2^31 on. */
export const layoutVersion = 2;

/** The number of every table in a member. Invariant: numbers are never used for another table. */
const tableNumbers: Readonly<Record<Table, number>> = {
  meta: 1,
  tail: 2,
  mark: 3,
  rows: 4,
  net: 5,
  steps: 6,
  id: 7,
  head: 8,
  write: 9,
  value: 10,
  mail: 11,
};
export const tableNames: readonly (Table | undefined)[] = Object.entries(tableNumbers).reduce<(Table | undefined)[]>(
  (names, [name, number]) => {
    names[number] = name as Table;
    return names;
  },
  [],
);

const textType = 0x74;
const bytesType = 0x62;
/** Behind every key there is a type, which is less than this byte. */
export const behind: Buffer = Buffer.from([0xff]);

/** Numbers of lineages and tapes take five bytes. */
const wideNumber = 5;
export const mostTapes: number = 2 ** (8 * wideNumber);

/** Numbers of tapes from here on take six bytes as an item, and a bit before them: all are ordered, those below as ever. */
const longItem = 2 ** 31;
const longBytes = 6;
const longBit = 2 ** (8 * longBytes - 1);

/** The keys of one store. */
export class Layout {
  readonly shards: number;
  readonly #prefix: string;
  readonly #slots: number[] = [];

  constructor(prefix: string, shards: number) {
    this.#prefix = prefix;
    this.shards = shards;
  }

  shardOfLineage(lineage: number): number {
    return lineage % this.shards;
  }

  shardOfThread(id: string): number {
    return crc16(Buffer.from(id)) % this.shards;
  }

  /** Returns a number for a lineage that lives in the shard of a thread's directory entry. */
  numberFor(id: string, number: number): number {
    if (this.shards === 1) return number;
    const most = Math.floor(mostTapes / this.shards);
    return (number % most) * this.shards + this.shardOfThread(id) || this.shards;
  }

  /** Returns the slot of a shard's keys. */
  slotOf(shard: number): number {
    this.#slots[shard] ??= slotOf(this.tag(shard));
    return this.#slots[shard];
  }

  tag(shard: number): string {
    return `${this.#prefix}:${shard}`;
  }

  key(shard: number, name: "d" | "e" | "g" | "t" | "k" | "x"): string {
    return `{${this.tag(shard)}}:${name}`;
  }

  lineageKey(lineage: number): string {
    return `{${this.tag(this.shardOfLineage(lineage))}}:l:${lineage}`;
  }
}

/** Returns a pattern of the keys of all lineages. */
export function lineagePattern(prefix: string): string {
  return `{${prefix.replace(/[*?[\]\\]/g, "\\$&")}:*}:l:*`;
}

/** Returns the bytes that a record's member begins with. */
export function keyBytes({ table, group, item, part }: Key): Buffer {
  const { wide } = tables[table];
  const isLong = table === "meta" && item >= longItem;
  const bytes = Buffer.allocUnsafe(1 + wideNumber + (wide ? 8 : isLong ? longBytes : 4));
  bytes[0] = tableNumbers[table];
  bytes.writeUIntBE(group, 1, wideNumber);
  if (isLong) {
    bytes.writeUIntBE(longBit + item, 1 + wideNumber, longBytes);
    return bytes;
  }
  bytes.writeUInt32BE(item, 1 + wideNumber);
  if (wide) bytes.writeUInt32BE(part, 1 + wideNumber + 4);
  return bytes;
}

/** Returns the bytes that a directory entry's member begins with. */
export function idBytes(id: string): Buffer {
  return Buffer.from(`${id}\0`);
}

export function bytesOfKey(key: Key | DirectoryKey): Buffer {
  return key.table === "directory" ? idBytes(key.id) : keyBytes(key);
}

/** Returns a record's member: its key, a type and its value. */
export function memberOf(key: Buffer, value: Value): Buffer {
  if (typeof value !== "string") return Buffer.concat([key, Buffer.from([bytesType]), value]);
  const member = Buffer.allocUnsafe(key.length + 1 + Buffer.byteLength(value));
  key.copy(member);
  member[key.length] = textType;
  member.write(value, key.length + 1);
  return member;
}

/** Returns the value of a member whose key takes `length` bytes. */
export function valueOf(member: Buffer, length: number): Value {
  if (member[length] === textType) return member.toString("utf8", length + 1);
  return new Uint8Array(member.subarray(length + 1));
}

/** Returns the bounds of a range of records, the first included and the last not; undefined if no record can be in it. */
export function boundsOf({
  table,
  group,
  from = 0,
  to = lastItem(table),
}: Range): readonly [Buffer, Buffer] | undefined {
  const least = Math.max(0, Math.ceil(from));
  const most = Math.min(lastItem(table), Math.floor(to));
  if (least > most) return undefined;
  const upper = keyBytes({ table, lineage: 0, group, item: most, part: lastInteger });
  return [keyBytes({ table, lineage: 0, group, item: least, part: 0 }), Buffer.concat([upper, behind])];
}

export function foundOf(member: Buffer, table: Table): Found {
  const { wide } = tables[table];
  const at = 1 + wideNumber;
  if (table === "meta" && (member[at] as number) >= 0x80) {
    return { item: member.readUIntBE(at, longBytes) - longBit, part: 0, value: valueOf(member, at + longBytes) };
  }
  return {
    item: member.readUInt32BE(at),
    part: wide ? member.readUInt32BE(at + 4) : 0,
    value: valueOf(member, at + (wide ? 8 : 4)),
  };
}

export function listedOf(member: Buffer): Listed {
  const end = member.indexOf(0);
  return { id: member.toString("utf8", 0, end), value: valueOf(member, end + 1) };
}

export function entryMember({ text, lineage, tape }: IndexEntry): Buffer {
  const bytes = Buffer.from(`${text}\0`);
  const numbers = Buffer.allocUnsafe(2 * wideNumber);
  numbers.writeUIntBE(lineage, 0, wideNumber);
  numbers.writeUIntBE(tape, wideNumber, wideNumber);
  return Buffer.concat([bytes, numbers]);
}

export function entryOf(member: Buffer): IndexEntry {
  const end = member.length - 2 * wideNumber;
  return {
    text: member.toString("utf8", 0, end - 1),
    lineage: member.readUIntBE(end, wideNumber),
    tape: member.readUIntBE(end + wideNumber, wideNumber),
  };
}
