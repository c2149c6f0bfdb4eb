import { ThreadmarkError } from "../../errors.ts";
import { isCorrupt } from "./damage.ts";

/** The part of a tape that the signal names. */
interface ReadTape {
  readonly meta: { readonly thread: string };
}

/**
 * Thrown by an attempt that has read records of before and after a rewrite by others: it has to begin again.
 *
 * Invariant: it never reaches a user. Operations that may meet it run in a loop of `Attempts`, and a call that has none ends
 * in BUSY: see {@link busyIfOvertaken}.
 */
export class Overtaken extends Error {
  override readonly name = "Overtaken";
  readonly thread: string;

  constructor({ meta: { thread } }: ReadTape) {
    super(`Thread ${JSON.stringify(thread)} was rewritten by others while it was read.`);
    this.thread = thread;
  }
}

/**
 * Tells whether an attempt failed only because others changed the records that it read. A CORRUPT error may be that, too: a
 * record that was moved between two reads looks missing, and one that was rewritten does not match its neighbours. So
 * `isStale` is asked before damage is reported: whether anything was changed since the attempt began.
 */
export async function wasOvertaken(error: unknown, isStale: () => boolean | Promise<boolean>): Promise<boolean> {
  if (error instanceof Overtaken) {
    await isStale();
    return true;
  }
  return isCorrupt(error) && isStale();
}

/** Returns a BUSY error in place of the signal, and any other error as it is. */
export function busyIfOvertaken(error: unknown): unknown {
  if (!(error instanceof Overtaken)) return error;
  const { message, thread } = error;
  return new ThreadmarkError("BUSY", `${message} Try again.`, { thread, cause: error });
}
