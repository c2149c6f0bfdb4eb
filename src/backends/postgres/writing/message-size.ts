import type { Batch } from "../../../backend.ts";
import { ServerFailure } from "../../shared/failure.ts";

/** The server ends a connection that receives a message of 1 GB. Some bytes are left for the rest of the message. */
const mostBytes = 2 ** 30 - 2 ** 16;

/** The most bytes of UTF-8 for one unit of a string's length. */
const bytesOfUnit = 3;

/**
 * Fails if a statement's parameters do not fit into one message: nothing was sent, and another attempt is of no use.
 */
export function refuseTooLarge(values: readonly unknown[], most: number = mostBytes): void {
  let length = 0;
  for (const value of values) if (isLong(value)) length += value.length;
  if (length * bytesOfUnit <= most) return;
  let bytes = 0;
  for (const value of values) if (isLong(value)) bytes += Buffer.byteLength(value);
  refuseBytes(bytes, most);
}

/** Fails if an array of this size does not fit into one message. */
export function refuseBytes(bytes: number, most: number = mostBytes): void {
  if (bytes <= most) return;
  const fault = `a change of ${bytes} bytes is more than Postgres takes in one message, which is 1 GB`;
  throw new ServerFailure(new Error(fault), false, false, "large");
}

function isLong(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

/** Returns the length of a batch's values, in characters or bytes. Fails if no message can hold them. */
export function lengthOf({ checks = none, inserts = none, puts = none }: Batch): number {
  const length = sum(checks) + sum(inserts) + sum(puts);
  if (length * bytesOfUnit > mostBytes) refuseTooLarge([...checks, ...inserts, ...puts].map(({ value }) => value));
  return length;
}

const none: readonly never[] = [];

function sum(entries: NonNullable<Batch["checks"]>): number {
  let length = 0;
  for (const { value } of entries) if (value !== undefined) length += value.length;
  return length;
}
