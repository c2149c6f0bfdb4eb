import { ThreadmarkError } from "../../errors.ts";
import { diskAdvice } from "../shared/disk-advice.ts";
import type { Holder } from "./disk/file-system.ts";

/** Returns a disk error as BACKEND. An error that was translated before stays as it is. */
export function backendFault(action: string, error: unknown, committed: false | "unknown"): ThreadmarkError {
  if (error instanceof ThreadmarkError && (error.code !== "BACKEND" || committed === false)) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const next = diskAdvice(code) ?? "Check the disk and try again.";
  const outcome = committed === false ? "" : " Whether the commit happened cannot be told.";
  return new ThreadmarkError("BACKEND", `file: ${action} failed: ${message}.${outcome} ${next}`, {
    committed,
    cause: error,
  });
}

/**
 * Returns the error for a commit of which a part is applied already: whatever the fault, `committed` must not be false.
 */
export function doneInPart(action: string, error: unknown): ThreadmarkError {
  const fault = backendFault(action, error, false);
  return new ThreadmarkError("BACKEND", `${fault.message} A part of the commit is done: read before you try again.`, {
    committed: "unknown",
    cause: fault.code === "BACKEND" ? fault.cause : fault,
  });
}

export function damagedJournal(path: string, line: number, fault: string): ThreadmarkError {
  return new ThreadmarkError(
    "CORRUPT",
    `${path}, line ${line}: ${fault}. Restore the file from a backup, or delete what needs the record.`,
  );
}

/**
 * Returns the error for lines that were shifted within a journal. No crash shifts lines, and undoing it restores
 * everything.
 */
export function movedLines(path: string, line: number): ThreadmarkError {
  return new ThreadmarkError(
    "CORRUPT",
    `${path}, line ${line}: bytes were added or taken away here, so that the lines behind are not where they were ` +
      `written. Undo that (an editor, a conversion of line ends?), or restore the file from a backup.`,
  );
}

/** Returns the error for files that were moved or replaced. `committed` describes the commit under way. */
export function movedFiles(path: string, committed: false | "unknown"): ThreadmarkError {
  const outcome =
    committed === false ? "Nothing was written" : "What was being written may be in the file that was moved";
  return new ThreadmarkError(
    "MOVED",
    `file: ${path} was deleted, moved or replaced while the store was open. ${outcome}. The next call goes on with what is ` +
      "there now: put the right files there first.",
    { committed },
  );
}

export function newerFormat(path: string, format: number, known: number): ThreadmarkError {
  return new ThreadmarkError(
    "VERSION",
    `${path} has format ${format}; this version of threadmark reads up to ${known}. Upgrade threadmark.`,
  );
}

export function readOnlyStore(path: string): ThreadmarkError {
  return new ThreadmarkError("READ_ONLY", `${path} was opened with readOnly. Open it without to change it.`);
}

export function heldBy(lock: string, holder: Holder): ThreadmarkError {
  const who = `process ${holder.pid} on ${holder.host}`;
  return new ThreadmarkError(
    "BUSY",
    `${who} writes to this store, and only one process may. Close it there; if it is certain that it no longer runs, ` +
      `remove ${lock}.`,
    { holder: who },
  );
}
