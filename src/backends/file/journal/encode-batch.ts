import type { Value } from "../../../backend.ts";
import type { Line } from "../format/line.ts";
import { encodeLine } from "../format/line-writer.ts";
import type { Operation } from "../format/operation.ts";
import type { BatchBoundary } from "./batch-boundary.ts";

export type JournalEntry = readonly [operation: Operation, value: Value | undefined];

/** An encoded batch, ready to be appended at its journal's end. */
export interface Prepared {
  readonly bytes: Buffer;
  readonly lines: readonly Line[];
  readonly values: readonly (Value | undefined)[];
}

/** Encodes the lines of a batch that follows a journal's end. */
export function encodeBatch(end: BatchBoundary, entries: readonly JournalEntry[], joint: boolean): Prepared {
  const { offset: start, lines: before, batch: last, synced } = end;
  const batchFields = {
    batch: last + 1,
    of: entries.length,
    start,
    joint,
    synced: synced === last ? undefined : synced,
  };
  let { prior } = end;
  let offset = start;
  const buffers: Buffer[] = [];
  const lines: Line[] = [];
  for (const [index, [operation, value]] of entries.entries()) {
    const record = index + 1;
    const bytes = encodeLine(offset, { ...batchFields, record }, operation, value, prior);
    const fields = { ...batchFields, record, synced };
    const line = lineOf(bytes, fields, operation, value, prior.crc, offset, before + record);
    buffers.push(bytes);
    lines.push(line);
    prior = { operation, length: line.length, crc: line.crc };
    offset += bytes.length;
  }
  return { bytes: Buffer.concat(buffers), lines, values: entries.map(([, value]) => value) };
}

function lineOf(
  bytes: Buffer,
  batchFields: Pick<Line, "batch" | "record" | "of" | "start" | "joint" | "synced">,
  operation: Operation,
  value: Value | undefined,
  priorCrc: number,
  offset: number,
  number: number,
): Line {
  const crc = Number.parseInt(bytes.toString("latin1", bytes.length - 11, bytes.length - 3), 16);
  const valueBytes = value === undefined ? 0 : typeof value === "string" ? Buffer.byteLength(value) : value.byteLength;
  return {
    ...batchFields,
    offset,
    length: bytes.length,
    number,
    operation,
    valueBytes,
    crc,
    priorCrc,
    sound: undefined,
  };
}
