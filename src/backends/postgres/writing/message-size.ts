import type { Batch } from "../../../backend.ts";
import { Failure } from "../connection/failure.ts";

/** The server ends a connection over which a message of 1 GB comes. A little is left for what is not a value. */
const mostBytes = 2 ** 30 - 2 ** 16;

/** The most bytes that one unit of a string's length takes in UTF-8. */
const bytesOfUnit = 3;

/** Fails if the parameters of a statement do not fit into one message: nothing was sent, and trying again is no use. */
export function refuseTooLarge(values: readonly unknown[], most: number = mostBytes): void {
  let length = 0;
  for (const value of values) if (isLong(value)) length += value.length;
  if (length * bytesOfUnit <= most) return;
  let bytes = 0;
  for (const value of values) if (isLong(value)) bytes += Buffer.byteLength(value);
  refuseBytes(bytes, most);
}

/** The same of what is about to be laid out. */
export function refuseBytes(bytes: number, most: number = mostBytes): void {
  if (bytes <= most) return;
  const fault = `a change of ${bytes} bytes is more than Postgres takes in one message, which is 1 GB`;
  throw new Failure(new Error(fault), false, false, "large");
}

function isLong(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

/** How long the values of a batch are together, in characters or bytes. Fails if no message can hold them. */
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
