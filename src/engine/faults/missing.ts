import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointRef } from "../../model/interface/options.ts";
import { describeRef } from "../../model/validation/refs.ts";

/** The part of a tape that a message names. */
interface FrameHome {
  readonly number: number;
  readonly meta: { readonly thread: string };
}

export function notFound(thread: string, ref: CheckpointRef): ThreadmarkError {
  return new ThreadmarkError(
    "NOT_FOUND",
    `Thread ${JSON.stringify(thread)} has no ${describeRef(ref)}. See its history().`,
    { thread, ...(typeof ref === "string" && { checkpoint: ref }) },
  );
}

export function threadNotFound(thread: string): ThreadmarkError {
  return new ThreadmarkError("NOT_FOUND", `There is no thread ${JSON.stringify(thread)}. See store.threads().`, {
    thread,
  });
}

export function missingFrame(tape: FrameHome, seq: number): ThreadmarkError {
  const frame = `${tape.number}:${seq}`;
  return new ThreadmarkError("CORRUPT", `Frame ${frame} is missing. Run verify() and restore it from a backup.`, {
    thread: tape.meta.thread,
    frame,
  });
}

/** Adds the thread to an error of the codec, which only knows where in the value the fault lies. */
export function refusedBy(thread: string, error: unknown): unknown {
  if (!(error instanceof ThreadmarkError) || error.code !== "SERIALIZE" || error.thread !== undefined) return error;
  const { message, path, cause } = error;
  return new ThreadmarkError("SERIALIZE", `${message} Thread ${JSON.stringify(thread)} stays as it was.`, {
    thread,
    ...(path !== undefined && { path }),
    cause,
  });
}
