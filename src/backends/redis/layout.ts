import type { DirectoryKey, Found, IndexEntry, Key, Listed, Range, Table, Value } from "../../backend.ts";
import { tables } from "../../backend.ts";
import { lastInteger, lastItem } from "../shared/key-bounds.ts";
import type { Argument } from "./connection/connection.ts";
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

/** The version of this layout, in the record `{prefix}:layout`. Earlier layouts were never released. */
export const layoutVersion = 3;

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

/*
 * Keys are texts of characters below 128, and the type of a value is one of them: so a member is a text, if its value is, and a command
 * is written to the socket as a whole.
 */
const textType = "t";
const bytesType = "b";
/** Behind every key there is a type, which is less than this character. */
export const behind = "\x7f";

/** Values from this length on are sent as bytes: the driver joins texts, and texts have a greatest length. */
const longValue = 1 << 16;

/** Digits of base 128 that the number of a lineage or tape takes, and an item or part. */
const wideDigits = 6;
const digits = 5;
export const mostTapes: number = 2 ** 40;

/** The keys of one store. */
export class KeyLayout {
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

/** Returns the text that a record's member begins with. */
export function keyText({ table, group, item, part }: Key): string {
  const start = String.fromCharCode(tableNumbers[table]) + wideNumber(group);
  if (table === "meta") return start + wideNumber(item);
  return tables[table].wide ? start + number(item) + number(part) : start + number(item);
}

function wideNumber(value: number): string {
  const high = Math.floor(value / 2 ** 21);
  return String.fromCharCode(high >> 14, (high >> 7) & 127, high & 127) + lowDigits(value);
}

function number(value: number): string {
  const high = Math.floor(value / 2 ** 21);
  return String.fromCharCode(high >> 7, high & 127) + lowDigits(value);
}

function lowDigits(value: number): string {
  const low = value % 2 ** 21;
  return String.fromCharCode(low >> 14, (low >> 7) & 127, low & 127);
}

function numberAt(member: Buffer, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index += 1) value = value * 128 + (member[index] as number);
  return value;
}

/** Returns the length of the keys of a table, in members. */
export function keyLength(table: Table): number {
  return 1 + wideDigits + (table === "meta" ? wideDigits : tables[table].wide ? 2 * digits : digits);
}

/** Returns the text that a directory entry's member begins with. */
export function idText(id: string): string {
  return `${id}\0`;
}

export function textOfKey(key: Key | DirectoryKey): string {
  return key.table === "directory" ? idText(key.id) : keyText(key);
}

/** Returns a record's member: its key, a type and its value. */
export function memberOf(key: string, value: Value): Argument {
  if (typeof value !== "string") return Buffer.concat([Buffer.from(key + bytesType), value]);
  return value.length < longValue ? key + textType + value : Buffer.from(key + textType + value);
}

/** Returns the value of a member whose key takes `length` bytes. */
export function valueOf(member: Buffer, length: number): Value {
  if (member[length] === textType.charCodeAt(0)) return member.toString("utf8", length + 1);
  return new Uint8Array(member.subarray(length + 1));
}

/** Returns the bounds of a range of records, the first included and the last not; undefined if no record can be in it. */
export function boundsOf({
  table,
  group,
  from = 0,
  to = lastItem(table),
}: Range): readonly [string, string] | undefined {
  const least = Math.max(0, Math.ceil(from));
  const most = Math.min(lastItem(table), Math.floor(to));
  if (least > most) return undefined;
  const upper = keyText({ table, lineage: 0, group, item: most, part: lastInteger });
  return [keyText({ table, lineage: 0, group, item: least, part: 0 }), upper + behind];
}

export function foundOf(member: Buffer, table: Table): Found {
  const at = 1 + wideDigits;
  const isWide = tables[table].wide;
  return {
    item: numberAt(member, at, table === "meta" ? wideDigits : digits),
    part: isWide ? numberAt(member, at + digits, digits) : 0,
    value: valueOf(member, keyLength(table)),
  };
}

export function listedOf(member: Buffer): Listed {
  const end = member.indexOf(0);
  return { id: member.toString("utf8", 0, end), value: valueOf(member, end + 1) };
}

export function entryMember({ text, lineage, tape }: IndexEntry): string {
  return `${text}\0${wideNumber(lineage)}${wideNumber(tape)}`;
}

export function entryOf(member: Buffer): IndexEntry {
  const end = member.length - 2 * wideDigits;
  return {
    text: member.toString("utf8", 0, end - 1),
    lineage: numberAt(member, end, wideDigits),
    tape: numberAt(member, end + wideDigits, wideDigits),
  };
}
