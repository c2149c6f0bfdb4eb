import { ThreadmarkError } from "../../errors.ts";

/** Whether something failed because a record is damaged, or missing. */
export function isCorrupt(error: unknown): error is ThreadmarkError {
  return error instanceof ThreadmarkError && error.code === "CORRUPT";
}

/** Nothing, for what does not read: one that is damaged does not keep others from being read. */
export function ifDamaged(error: unknown): undefined {
  if (isCorrupt(error)) return undefined;
  throw error;
}

/** Adds to a fault of storage which checkpoint it was found in. */
export function named(error: unknown, thread: string, checkpoint: string): unknown {
  if (!isCorrupt(error) || error.checkpoint !== undefined) return error;
  return new ThreadmarkError(
    "CORRUPT",
    `Thread ${JSON.stringify(thread)}, checkpoint ${JSON.stringify(checkpoint)}: ${error.message}`,
    { thread, checkpoint, ...(error.frame !== undefined && { frame: error.frame }), cause: error },
  );
}
