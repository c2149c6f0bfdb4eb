import { ThreadmarkError } from "../../errors.ts";
import type { Database } from "./database.ts";

/** Milliseconds between two attempts to empty the log. */
const pauseMilliseconds = 25;

/** Runs an action that takes the write lock when the process may have it. */
type RunLocked = <Result>(action: (database: Database) => Result) => Promise<Result>;

/**
 * Rewrites every live page, so that the space of deleted records is reclaimed and no trace of them is left in the file
 * or its log. The log is emptied before, too: while another process reads an older state, the rewrite would only make
 * the log longer, by the whole database every time.
 *
 * Invariant: nothing is awaited while the write lock, or a position in the queue for it, is held. Commits go on
 * meanwhile.
 */
export async function compactFile(runLocked: RunLocked, path: string, patience: number): Promise<void> {
  const start = performance.now();
  const untilDone = async (action: () => Promise<boolean>, standing: string): Promise<void> => {
    let cause: unknown;
    for (;;) {
      try {
        if (await action()) return;
      } catch (error) {
        if (!(error instanceof ThreadmarkError) || error.code !== "BUSY") throw error;
        cause = error;
      }
      const waited = performance.now() - start;
      if (cause !== undefined || waited > patience) throw inTheWay(path, waited, standing, cause);
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds * (0.5 + Math.random())));
    }
  };
  await untilDone(() => runLocked(emptyLog), "their room was not given back, and the file still holds what they were");
  await untilDone(() => runLocked(vacuum), "their room was not given back, and the file still holds what they were");
  await untilDone(
    () => runLocked(emptyLog),
    "the file was written anew without them, but its log still holds what they were",
  );
}

/** Pages that are given back in one step: a commit waits for it, for about a millisecond. */
const stepPages = 64;

/** Gives free pages at the end of the file back, after moving used ones from there. Returns true if more are free. */
export function reclaimPages({ connection }: Database): boolean {
  const { auto_vacuum: mode } = connection.prepare("PRAGMA auto_vacuum").get() as { readonly auto_vacuum: number };
  // A database of an earlier version has no room to give until it was compacted.
  if (mode !== incremental) return false;
  connection.exec(`PRAGMA incremental_vacuum(${stepPages})`);
  const { freelist_count: free } = connection.prepare("PRAGMA freelist_count").get() as {
    readonly freelist_count: number;
  };
  return free > 0;
}

const incremental = 2;

export function vacuum({ connection }: Database): true {
  connection.exec("VACUUM");
  return true;
}

/** Moves the log into the database and truncates it; returns false if another connection still needs it or writes. */
export function emptyLog({ connection }: Database): boolean {
  const { busy } = connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { readonly busy: number };
  return busy === 0;
}

function inTheWay(path: string, waited: number, standing: string, cause: unknown): ThreadmarkError {
  const seconds = (waited / 1000).toFixed(1);
  return new ThreadmarkError(
    "BUSY",
    `SQLite: ${path}: other processes were reading or writing for ${seconds} s. Records that were deleted are gone from ` +
      `the store, but ${standing}. Run compact() again when no other process holds a transaction open.`,
    { cause },
  );
}
