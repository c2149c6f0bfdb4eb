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
