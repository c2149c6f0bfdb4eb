import { ThreadmarkError } from "../../../errors.ts";
import { fs } from "../../../platform/node-builtins.ts";
import { ownerOnly } from "../../shared/file-mode.ts";
import { logOf, realPathOf, sharedMemoryOf } from "./companion-files.ts";

const { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } = fs;

/** A log that is no longer than its header holds no commit. */
const headerBytes = 32;

/** The identities of a log and of the database file it was written for. */
interface Owner {
  readonly database: string;
  readonly log: string;
}

/**
 * Returns the path of the file that names a log's owner as long as the log exists. SQLite itself does not record it: it
 * replays any log beside a database, and deletes a log whose database is missing.
 */
function ownerFileOf(path: string): string {
  return `${path}-owner`;
}

/**
 * Refuses a database beside a log that was written for another file, as when a backup replaced a database whose process
 * was killed; and a log whose database is missing. Files that were copied together both have new identities and are
 * accepted, as is a log without an owner file.
 */
export function refuseForeignLog(path: string): void {
  const real = existsSync(path) ? realPathOf(path) : path;
  const log = logOf(real);
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) <= headerBytes) return;
  const database = identityOf(real);
  if (database === undefined) {
    throw foreign(path, `${path} is missing, but its log ${log} is still there with commits in it`, log, [
      "Put the database back",
    ]);
  }
  const owner = readOwner(real);
  if (owner === undefined || owner.log !== identityOf(log) || owner.database === database) return;
  throw foreign(path, `the log ${log} was written for another file than the one that is there now`, log, [
    "Put that file back",
    `if this one is an exact copy of it, delete ${ownerFileOf(real)}`,
  ]);
}

/** Records that the log of the database at the path `real` belongs to it. A connection must have both open. */
export function claimLog(real: string): void {
  const [database, log] = [identityOf(real), identityOf(logOf(real))];
  if (database === undefined || log === undefined) return;
  const owner = readOwner(real);
  if (owner?.database === database && owner.log === log) return;
  try {
    // A half-written file, after a power cut, counts as none.
    writeFileSync(ownerFileOf(real), `${JSON.stringify({ database, log })}\n`, { mode: ownerOnly });
    // Every user of the database may write the owner file.
    chmodSync(ownerFileOf(real), statSync(real).mode & 0o666);
  } catch {
    // Where no file can be created, the log is used without one: only a later mistake goes unnoticed.
  }
}

/** Removes the file of {@link claimLog} once SQLite has removed the log. */
export function disclaimLog(real: string): void {
  try {
    if (existsSync(ownerFileOf(real)) && !existsSync(logOf(real))) rmSync(ownerFileOf(real), { force: true });
  } catch {
    // A leftover file names a log that is gone. The next log has another identity, and the file is then rewritten.
  }
}

function readOwner(real: string): Owner | undefined {
  try {
    const { database, log } = JSON.parse(readFileSync(ownerFileOf(real), "utf8")) as Partial<Owner>;
    return typeof database === "string" && typeof log === "string" ? { database, log } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the inode and the time of birth, since inodes of deleted files are reused. The device is left out: it may
 * differ after a restart.
 */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.ino}:${stat.birthtimeNs}`;
}

function foreign(path: string, fault: string, log: string, ways: readonly string[]): ThreadmarkError {
  const remove = `to go on without what is in the log, delete ${log} and ${sharedMemoryOf(log.slice(0, -4))}`;
  return new ThreadmarkError("MOVED", `SQLite: ${path} was not opened: ${fault}. ${[...ways, remove].join("; ")}.`, {
    committed: false,
  });
}
