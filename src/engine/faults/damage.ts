import { ThreadmarkError } from "../../errors.ts";

/** Tells whether an operation failed because a record is damaged or missing. */
export function isCorrupt(error: unknown): error is ThreadmarkError {
  return error instanceof ThreadmarkError && error.code === "CORRUPT";
}

/** Returns undefined for a CORRUPT error and rethrows any other, so that one damaged record does not stop a scan. */
export function ifDamaged(error: unknown): undefined {
  if (isCorrupt(error)) return undefined;
  throw error;
}

/** Returns what a function decodes; undefined where that is damaged. */
export function unlessDamaged<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    return ifDamaged(error);
  }
}

/** Adds the thread to a CORRUPT error that does not name one yet, and `standing`, where given, to its message. */
export function ofThread(error: unknown, thread: string, standing = ""): unknown {
  if (!isCorrupt(error) || error.thread !== undefined) return error;
  const { message, frame } = error;
  return new ThreadmarkError("CORRUPT", `Thread ${JSON.stringify(thread)}: ${standing}${message}`, {
    thread,
    ...(frame !== undefined && { frame }),
    cause: error,
  });
}

/** Adds the checkpoint to a CORRUPT error that does not name one yet. */
export function named(error: unknown, thread: string, checkpoint: string): unknown {
  if (!isCorrupt(error) || error.checkpoint !== undefined) return error;
  return new ThreadmarkError(
    "CORRUPT",
    `Thread ${JSON.stringify(thread)}, checkpoint ${JSON.stringify(checkpoint)}: ${error.message}`,
    { thread, checkpoint, ...(error.frame !== undefined && { frame: error.frame }), cause: error },
  );
}
