import type { Value } from "../../backend.ts";
import type { Json } from "../../codec/json.ts";
import { BYTES_OF_UNIT, jsonBytes, mostBytes, tooLarge } from "../../codec/json-text.ts";
import { ThreadmarkError } from "../../errors.ts";
import { byteLength } from "../../platform/bytes.ts";

interface Limits {
  readonly checkpointBytes: number;
  /** Strings from this length on are stored by themselves, and do not count. */
  readonly largeFrom: number;
}

/** Refuses a record of one put, or of a task's writes, that takes more than a checkpoint may. */
export function checkRecord(
  { checkpointBytes: limit }: Limits,
  thread: string,
  value: Value,
  what = "the checkpoint",
): void {
  if (value.length * BYTES_OF_UNIT <= limit) return;
  const bytes = typeof value === "string" ? byteLength(value) : value.byteLength;
  if (bytes > limit) throw tooLarge(`Thread ${JSON.stringify(thread)}: ${what}`, bytes, limit, { thread });
}

/**
 * Refuses a checkpoint whose whole body takes more than it may, however little of it is new: it could not be written as one
 * record when what it builds on is pruned. `most` is what the body takes at most; the body is measured only where that is
 * too much. Returns a bound to go on with.
 */
export function checkBodySize(
  { checkpointBytes: limit, largeFrom }: Limits,
  thread: string,
  most: number,
  body: () => Json,
): number {
  if (most <= limit) return most;
  const bytes = jsonBytes(body(), largeFrom);
  if (bytes > limit)
    throw tooLarge(`Thread ${JSON.stringify(thread)}: the checkpoint's body`, bytes, limit, { thread });
  return bytes;
}

/** Returns at most how many bytes of JSON a record adds to a body. */
export function mostOf(value: Value): number {
  return typeof value === "string" ? mostBytes(value) : value.byteLength;
}

/** Returns the same error as one of this thread, where it is about a size and does not say of which thread. */
export function inThread(error: unknown, thread: string): unknown {
  const large = overlong(error) ?? error;
  if (!(large instanceof ThreadmarkError) || large.code !== "TOO_LARGE" || large.thread !== undefined) return large;
  const { message, bytes, limit, path, cause } = large;
  return new ThreadmarkError("TOO_LARGE", `Thread ${JSON.stringify(thread)}: ${message}`, {
    thread,
    ...(bytes !== undefined && { bytes }),
    ...(limit !== undefined && { limit }),
    ...(path !== undefined && { path }),
    cause,
  });
}

/** Returns a `TOO_LARGE` for V8's own refusal to make a string, which stores of earlier versions can still come to. */
export function overlong(error: unknown): ThreadmarkError | undefined {
  if (!(error instanceof Error)) return undefined;
  const isOverlong = error instanceof RangeError && error.message === "Invalid string length";
  if (!isOverlong && (error as { code?: unknown }).code !== "ERR_STRING_TOO_LONG") return undefined;
  return new ThreadmarkError(
    "TOO_LARGE",
    "A value takes more than the 536,870,888 characters that a string can have. Keep large values elsewhere, and in the state only where they are.",
    { limit: 536_870_888, cause: error },
  );
}
