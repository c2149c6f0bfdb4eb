import { crc32 } from "node:zlib";
import type { Operation } from "./operation.ts";

/**
 * A line of a journal is a JSON object with its fields in this order:
 *
 * | field | meaning |
 * | --- | --- |
 * | `batch` | the number of the batch the line was synced with |
 * | `record`, `of`, `start` | in batches of several lines: which one this is, of how many, the offset of the first |
 * | `synced` | the last batch known to be on the medium, when that is not the one before (`fsync: "normal"`) |
 * | `joint` | the batch counts only if `directory.jsonl` says so |
 * | … | what the line does, see `Operation` |
 * | `bytes`, `head` | the length of the value in the line; the checksum of all fields up to here, and of the line's offset |
 * | `envelope` and `value`, `base64`, or `text` | the value, if there is one |
 * | `prior` | the operation of the line before, its length, its checksum |
 * | `crc` | the checksum of the line up to here |
 *
 * Every line repeats the operation of the line before, so that a damaged line's record is still known. `head` allows an
 * index to be built without the checksum of every value, which is computed when a value is first read.
 */
export interface Line {
  readonly offset: number;
  /** In bytes, with the newline. */
  readonly length: number;
  /** From 1. */
  readonly number: number;
  readonly batch: number;
  readonly record: number;
  readonly of: number;
  readonly start: number;
  readonly synced: number;
  readonly joint: boolean;
  readonly operation: Operation;
  /** The size of the value as the engine passed it. */
  readonly valueBytes: number;
  readonly crc: number;
  readonly priorCrc: number;
  /** Whether the checksum held when the journal was scanned; undefined if it was not computed then. */
  sound: boolean | undefined;
}

/** The line before, as the next line repeats it. */
export interface Prior {
  readonly operation: Operation | undefined;
  readonly length: number;
  readonly crc: number;
}

export const noPrior: Prior = { operation: undefined, length: 0, crc: 0 };

/** The fields that the lines of a batch share, and the line's number among them. */
export interface BatchFields {
  readonly batch: number;
  readonly record: number;
  readonly of: number;
  readonly start: number;
  /** Undefined: all batches before this one. */
  readonly synced: number | undefined;
  readonly joint: boolean;
}

/** The length of `,"crc":"########"}` and the newline. */
export const tailLength = 19;

/** The length of the engine's envelope. */
export const envelopeLength = 10;

/**
 * Computes the checksum of a line's fields before the value. It starts from the line's offset, so that the line is
 * valid nowhere else.
 */
export function headCheck(head: string | Buffer, offset: number): number {
  return crc32(head, offset % 0x1_0000_0000);
}

/** Returns eight hexadecimal digits. */
export function hex(integer: number): string {
  return integer.toString(16).padStart(8, "0");
}
