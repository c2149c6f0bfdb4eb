import { crc32 } from "node:zlib";
import type { Table, Value } from "../../../backend.ts";
import { tables } from "../../../backend.ts";
import type { Line, Prior } from "./line.ts";
import { envelopeLength, headCheck, tailLength } from "./line.ts";
import type { Fields, Operation } from "./operation.ts";
import { operationOf } from "./operation.ts";

const newline = 0x0a;
const quote = 0x22;
const equals = 0x3d;
const bracket = 0x5d;
const brace = 0x7d;
const zero = 0x30;

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const words = {
  batch: bytesOf('{"batch":'),
  record: bytesOf(',"record":'),
  of: bytesOf(',"of":'),
  start: bytesOf(',"start":'),
  synced: bytesOf(',"synced":'),
  joint: bytesOf(',"joint":true'),
  table: bytesOf(',"table":"'),
  item: bytesOf(',"item":'),
  part: bytesOf(',"part":'),
  bytes: bytesOf(',"bytes":'),
  head: bytesOf(',"head":"'),
  envelope: bytesOf('","envelope":"'),
  value: bytesOf('","value":'),
  base64: bytesOf('","base64":'),
  text: bytesOf('","text":'),
  prior: bytesOf(',"prior":['),
  lonePrior: bytesOf('","prior":['),
  crc: bytesOf(',"crc":"'),
};

/** The first bytes of every line. */
export const lineStart: Buffer = words.batch;

// The bytes of each table's name and of the field behind it.
const tableWords = (Object.keys(tables) as Table[]).map((table) => ({ table, word: bytesOf(`${table}","group":`) }));

/**
 * Parses the line in `buffer` between `from` and `to`, which is behind its newline. Returns undefined when the fields
 * before the value differ from what was written, or the rest does not have the form of a line. The value is not
 * checked.
 */
export function parseLine(buffer: Buffer, from: number, to: number, offset: number, number: number): Line | undefined {
  const tail = to - tailLength;
  if (buffer[to - 1] !== newline || tail - 11 < from || !startsWith(buffer, tail, words.crc)) return undefined;
  if (
    buffer[to - 2] !== brace ||
    buffer[to - 3] !== quote ||
    buffer[tail - 1] !== bracket ||
    buffer[tail - 2] !== quote
  ) {
    return undefined;
  }
  const crc = hexadecimal(buffer, to - 11);
  const priorCrc = hexadecimal(buffer, tail - 10);
  if (crc < 0 || priorCrc < 0) return undefined;
  const head = parsePut(buffer, from, offset) ?? parseOther(buffer, from, to, offset);
  if (head === undefined) return undefined;
  const { end, section, batch, record, of, start, synced, joint, operation } = head;
  if (!startsWith(buffer, end, words.head)) return undefined;
  const after = end + words.head.length + 8;
  if (headCheck(buffer.subarray(from, end), offset) !== hexadecimal(buffer, after - 8)) return undefined;
  const valueBytes = valueBytesAt(buffer, after, section, tail);
  if (valueBytes === undefined) return undefined;
  const length = to - from;
  const sound = undefined;
  return {
    offset,
    length,
    number,
    batch,
    record,
    of,
    start,
    synced,
    joint,
    operation,
    valueBytes,
    crc,
    priorCrc,
    sound,
  };
}

interface Head extends Omit<Line, "offset" | "length" | "number" | "valueBytes" | "crc" | "priorCrc" | "sound"> {
  /** The end of the fields that the checksum `head` covers. */
  readonly end: number;
  /** The length of the value's text; undefined when there is no value. */
  readonly section: number | undefined;
}

/** Parses a put, which almost every line is, byte by byte and without a string in between. */
function parsePut(buffer: Buffer, from: number, offset: number): Head | undefined {
  cursor.move(buffer, from);
  if (!cursor.skip(words.batch)) return undefined;
  const batch = cursor.integer();
  let record = 1;
  let of = 1;
  let start = offset;
  if (cursor.skip(words.record)) {
    record = cursor.integer();
    if (!cursor.skip(words.of)) return undefined;
    of = cursor.integer();
    if (!cursor.skip(words.start)) return undefined;
    start = cursor.integer();
  }
  const synced = cursor.skip(words.synced) ? cursor.integer() : batch - 1;
  const joint = cursor.skip(words.joint);
  if (!cursor.skip(words.table)) return undefined;
  const table = cursor.table();
  if (table === undefined) return undefined;
  const group = cursor.integer();
  if (!cursor.skip(words.item)) return undefined;
  const item = cursor.integer();
  const part = cursor.skip(words.part) ? cursor.integer() : 0;
  if (!cursor.skip(words.bytes)) return undefined;
  const section = cursor.integer();
  const operation: Operation = { is: "put", table, group, item, part };
  return { batch, record, of, start, synced, joint, operation, end: cursor.at, section };
}

function parseOther(buffer: Buffer, from: number, to: number, offset: number): Head | undefined {
  const end = buffer.indexOf(words.head, from);
  if (end < 0 || end >= to) return undefined;
  let fields: Fields;
  try {
    fields = JSON.parse(`${buffer.toString("utf8", from, end)}}`) as Fields;
  } catch {
    return undefined;
  }
  const operation = operationOf(fields);
  const { batch, record = 1, of = 1, start = offset, synced = (batch as number) - 1, joint, bytes } = fields;
  if (operation === undefined || typeof batch !== "number") return undefined;
  return {
    batch,
    record: record as number,
    of: of as number,
    start: start as number,
    synced: synced as number,
    joint: joint === true,
    operation,
    end,
    section: bytes as number | undefined,
  };
}

/** Returns the size of the value whose fields start at `at`; undefined unless `prior` follows right behind it. */
function valueBytesAt(buffer: Buffer, at: number, section: number | undefined, tail: number): number | undefined {
  if (section === undefined) return startsWith(buffer, at, words.lonePrior) ? 0 : undefined;
  const value = at + words.envelope.length + envelopeLength + words.value.length;
  if (startsWith(buffer, at, words.envelope)) {
    const fits = value + section <= tail && startsWith(buffer, value + section, words.prior);
    return fits && startsWith(buffer, value - words.value.length, words.value) ? section + envelopeLength : undefined;
  }
  const base64 = startsWith(buffer, at, words.base64);
  if (!base64 && !startsWith(buffer, at, words.text)) return undefined;
  const from = at + (base64 ? words.base64 : words.text).length;
  const to = from + section;
  if (to > tail || !startsWith(buffer, to, words.prior)) return undefined;
  if (base64) {
    const padding = buffer[to - 2] !== equals ? 0 : buffer[to - 3] !== equals ? 1 : 2;
    return ((section - 2) / 4) * 3 - padding;
  }
  try {
    return Buffer.byteLength(JSON.parse(buffer.toString("utf8", from, to)) as string);
  } catch {
    return undefined;
  }
}

/** Reads a line's fields byte by byte. Shared by all calls, since parsing never awaits. */
const cursor = {
  buffer: Buffer.alloc(0) as Buffer,
  at: 0,

  move(buffer: Buffer, at: number): void {
    this.buffer = buffer;
    this.at = at;
  },

  /** Moves behind `word` if it stands here. */
  skip(word: Buffer): boolean {
    if (!startsWith(this.buffer, this.at, word)) return false;
    this.at += word.length;
    return true;
  },

  integer(): number {
    let value = 0;
    for (;;) {
      const digit = (this.buffer[this.at] ?? 0) - zero;
      if (digit < 0 || digit > 9) return value;
      value = value * 10 + digit;
      this.at++;
    }
  },

  table(): Table | undefined {
    for (const { table, word } of tableWords) if (this.skip(word)) return table;
    return undefined;
  },
};

/** Reads eight hexadecimal digits; negative when they are something else. */
export function hexadecimal(buffer: Buffer, from: number): number {
  let value = 0;
  for (let at = from; at < from + 8; at++) {
    const code = buffer[at] ?? 0;
    const digit =
      code >= 0x61 ? (code <= 0x66 ? code - 0x57 : -1) : code >= zero && code <= zero + 9 ? code - zero : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** Returns what a sound line repeats of the line before it. */
export function priorOf(line: Buffer): Prior {
  const text = line.toString("utf8");
  const prior = JSON.parse(text.slice(text.lastIndexOf(',"prior":[') + 9, -tailLength)) as readonly unknown[];
  const [operation, length, crc] = prior.length === 3 ? prior : [undefined, ...prior];
  return {
    operation: operation === undefined ? undefined : operationOf(operation as Fields),
    length: length as number,
    crc: Number.parseInt(crc as string, 16),
  };
}

/** Returns whether every byte of a parsed line is as it was written. */
export function isSound(line: Buffer, crc: number): boolean {
  return crc32(line.subarray(0, -tailLength)) === crc;
}

/** Returns the value of a sound line. It may overwrite `line` from the value's fields on. */
export function valueOf(line: Buffer): Value {
  const head = line.indexOf(words.head);
  const after = head + words.head.length + 8;
  const size = integerBefore(line, head);
  if (startsWith(line, after, words.envelope)) {
    const at = after + words.envelope.length + envelopeLength + words.value.length;
    // Moves the envelope next to the JSON, over a field name of the same length, so that one string is decoded once.
    line.copyWithin(at - envelopeLength, after + words.envelope.length, after + words.envelope.length + envelopeLength);
    return line.toString("utf8", at - envelopeLength, at + size);
  }
  if (startsWith(line, after, words.base64)) {
    const at = after + words.base64.length + 1;
    return new Uint8Array(Buffer.from(line.toString("latin1", at, at + size - 2), "base64"));
  }
  const at = after + words.text.length;
  return JSON.parse(line.toString("utf8", at, at + size)) as string;
}

/** Reads the integer that ends right before `end`. */
function integerBefore(line: Buffer, end: number): number {
  let at = end;
  while ((line[at - 1] ?? 0) >= zero && (line[at - 1] ?? 0) <= zero + 9) at--;
  return Number(line.toString("latin1", at, end));
}

function startsWith(line: Buffer, at: number, word: Buffer): boolean {
  for (let index = 0; index < word.length; index++) if (line[at + index] !== word[index]) return false;
  return true;
}
