import { ThreadmarkError } from "../../errors.ts";
import { Unreadable } from "./source.ts";

/** A checkpoint, or the writes of one, that could not be taken over. */
export interface ImportFault {
  readonly thread: string;
  readonly namespace: string;
  readonly checkpoint: string;
  readonly message: string;
}

/** Why one checkpoint cannot be taken over, if that is its own fault; anything else ends the import. */
export function ownFault(error: unknown): string {
  if (error instanceof Unreadable || error instanceof TypeError) return error.message;
  if (error instanceof ThreadmarkError && error.code === "SERIALIZE") return error.message;
  throw error;
}
