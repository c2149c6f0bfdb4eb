import { refuseBytes } from "./message-size.ts";

/**
 * Encodes Postgres arrays in the binary form of its wire protocol. The driver sends a Buffer unchanged, so a thousand
 * values travel as one parameter without the escaping and unescaping of array literals.
 */

const integerType = 23;
const bigintType = 20;
const textType = 25;
const byteaType = 17;
const uuidType = 2950;

const headerBytes = 20;
const noValue = -1;

/** Encodes an `int4[]`: small codes. */
export function integers(values: readonly number[]): Buffer {
  const buffer = header(integerType, values.length, 8 * values.length, false);
  let offset = headerBytes;
  for (const value of values) {
    buffer.writeInt32BE(4, offset);
    buffer.writeInt32BE(value, offset + 4);
    offset += 8;
  }
  return buffer;
}

/** Encodes an `int8[]` of whole numbers: lineages, groups, items and parts, and bounds slightly beyond them. */
export function bigints(values: readonly number[]): Buffer {
  const buffer = header(bigintType, values.length, 12 * values.length, false);
  let offset = headerBytes;
  for (const value of values) {
    buffer.writeInt32BE(8, offset);
    const high = Math.floor(value / 2 ** 32);
    buffer.writeInt32BE(high, offset + 4);
    buffer.writeUInt32BE(value - high * 2 ** 32, offset + 8);
    offset += 12;
  }
  return buffer;
}

/** Encodes a `text[]`; undefined is null. */
export function texts(values: readonly (string | undefined)[]): Buffer {
  let size = 0;
  let nulls = false;
  const lengths = values.map((value) => {
    if (value === undefined) {
      nulls = true;
      return noValue;
    }
    const length = Buffer.byteLength(value);
    size += length;
    return length;
  });
  const buffer = header(textType, values.length, 4 * values.length + size, nulls);
  let offset = headerBytes;
  for (const [index, value] of values.entries()) {
    buffer.writeInt32BE(lengths[index] as number, offset);
    offset += 4;
    if (value !== undefined) offset += buffer.write(value, offset, "utf8");
  }
  return buffer;
}

/** Encodes a `bytea[]`; undefined is null. */
export function byteas(values: readonly (Uint8Array | undefined)[]): Buffer {
  return binary(byteaType, values);
}

/** Encodes a `uuid[]` of 16 bytes each. */
export function uuids(values: readonly Uint8Array[]): Buffer {
  return binary(uuidType, values);
}

function binary(type: number, values: readonly (Uint8Array | undefined)[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + (value?.byteLength ?? 0), 0);
  const buffer = header(
    type,
    values.length,
    size,
    values.some((value) => value === undefined),
  );
  let offset = headerBytes;
  for (const value of values) {
    buffer.writeInt32BE(value?.byteLength ?? noValue, offset);
    offset += 4;
    if (value === undefined) continue;
    buffer.set(value, offset);
    offset += value.byteLength;
  }
  return buffer;
}

/**
 * Writes an array's header: dimensions, "has nulls", the element's type, then length and lower bound of the only
 * dimension.
 */
function header(type: number, length: number, bodyBytes: number, nulls: boolean): Buffer {
  if (length === 0) return emptyArray(type);
  refuseBytes(bodyBytes);
  const buffer = Buffer.allocUnsafe(headerBytes + bodyBytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(nulls ? 1 : 0, 4);
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
}

/** Encodes an empty array, which has no dimension in Postgres. */
function emptyArray(type: number): Buffer {
  const buffer = Buffer.alloc(12);
  buffer.writeInt32BE(type, 8);
  return buffer;
}
