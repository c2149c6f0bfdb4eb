import { ThreadmarkError } from "../errors.ts";

/** Throws CORRUPT for a tree that the encoder could not have made. */
export function corruptTree(fault: string, cause?: unknown): never {
  const next = "Run verify() on the store to see what else is damaged, and restore it from a backup.";
  throw new ThreadmarkError("CORRUPT", `${fault}. ${next}`, { cause });
}
