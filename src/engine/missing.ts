import { ThreadmarkError } from "../errors.ts";
import type { Tape } from "./tape.ts";

export function notFound(thread: string, id: string): ThreadmarkError {
  return new ThreadmarkError("NOT_FOUND", `Thread ${JSON.stringify(thread)} has no checkpoint ${JSON.stringify(id)}.`, {
    thread,
    checkpoint: id,
  });
}

export function threadNotFound(thread: string): ThreadmarkError {
  return new ThreadmarkError("NOT_FOUND", `There is no thread ${JSON.stringify(thread)}.`, { thread });
}

export function missingFrame(tape: Tape, seq: number): ThreadmarkError {
  const frame = `${tape.number}:${seq}`;
  return new ThreadmarkError("CORRUPT", `Frame ${frame} is missing. Run verify() and restore it from a backup.`, {
    thread: tape.meta.thread,
    frame,
  });
}

/** Not a fault: what was read is read again. */
export function movedFrame(tape: Tape, seq: number): ThreadmarkError {
  const frame = `${tape.number}:${seq}`;
  return new ThreadmarkError("CORRUPT", `Frame ${frame} was rewritten by a compaction while it was read. Try again.`, {
    thread: tape.meta.thread,
    frame,
  });
}
