import { ThreadmarkError } from "../../errors.ts";
import { diskAdvice } from "../shared/disk-advice.ts";
import type { Driver } from "./driver/contract.ts";

/**
 * Translates a driver's error into a ThreadmarkError about the database at `path`. Nothing was committed, unless
 * `committed` is "unknown".
 */
export function translate(driver: Driver, path: string, error: unknown): unknown {
  if (error instanceof ThreadmarkError || error instanceof TypeError) return error;
  const details = { cause: error };
  const said = error instanceof Error ? error.message : String(error);
  switch (driver.fault(error)) {
    case "readonly":
      return readOnly(path, error);
    case "not-a-database":
      return new ThreadmarkError(
        "CORRUPT",
        `SQLite: ${path} is not a database. Check the path, or restore it from a backup.`,
        details,
      );
    case "corrupt":
      return new ThreadmarkError("CORRUPT", `SQLite: ${path} is damaged (${said}). Restore it from a backup.`, details);
    case "full":
      return backend(path, "the disk is full; make room and try again", false, error);
    case "sync":
      return backend(
        path,
        "the disk did not confirm the commit; read the thread again to see whether it is there",
        "unknown",
        error,
      );
    case "cannot-open":
      return backend(
        path,
        "the file cannot be opened; is it a file, and may this process read and write it",
        false,
        error,
      );
    case "io":
      return backend(
        path,
        `the disk failed (${said}). Check the disk, its quota and the limit on file sizes, then try again.`,
        false,
        error,
      );
    default: {
      const next = diskAdvice((error as { code?: string } | undefined)?.code);
      return backend(path, next === undefined ? said : `${said}. ${next}`, false, error);
    }
  }
}

export function readOnly(path: string, cause?: unknown): ThreadmarkError {
  const message = `SQLite: ${path} is open for reading only; open it without readOnly, with write access to it and its directory.`;
  return new ThreadmarkError("READ_ONLY", message, { cause });
}

/**
 * Returns MOVED. `fault` names the file that is not where it was. Nothing more is read from or written to files that
 * are not at the path.
 */
export function moved(path: string, fault: string, committed: false | "unknown", cause?: unknown): ThreadmarkError {
  const outcome = committed === false ? "" : " The commit that was under way is lost, unless that file is put back.";
  const message =
    `SQLite: ${path} is no longer the database that was opened: ${fault}.${outcome} ` +
    "Close this store, put the right files there, and open it again.";
  return new ThreadmarkError("MOVED", message, { committed, cause });
}

function backend(path: string, fault: string, committed: false | "unknown", cause: unknown): ThreadmarkError {
  return new ThreadmarkError("BACKEND", `SQLite: ${path}: ${fault}`, { cause, committed });
}
