import { ThreadmarkError } from "../../errors.ts";
import { Unreadable } from "./saver-database.ts";

/** A checkpoint that could not be imported, or whose writes could not. */
export interface ImportFault {
  readonly thread: string;
  readonly namespace: string;
  readonly checkpoint: string;
  readonly message: string;
}

/** Returns the message of an error that is the fault of a single checkpoint. Throws any other error: it ends the import. */
export function ownFault(error: unknown): string {
  if (error instanceof Unreadable || error instanceof TypeError) return error.message;
  if (error instanceof ThreadmarkError && error.code === "SERIALIZE") return error.message;
  throw error;
}
