import { ThreadmarkError } from "../../../errors.ts";
import { fs } from "../../../platform/node-builtins.ts";
import { ownerOnly } from "../../shared/file-mode.ts";
import { logOf, sharedMemoryOf } from "./companion-files.ts";

const { chmodSync, existsSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } = fs;

/** A log that is no longer than its header holds no commit. */
const headerBytes = 32;

/** Which database file a log was written for. */
interface Owner {
  readonly database: string;
  readonly log: string;
}

/**
 * The file beside a log that names its owner, as long as there is a log. SQLite itself does not know: it replays whatever
 * log lies beside a database, and deletes a log whose database is missing.
 */
function ownerFileOf(path: string): string {
  return `${path}-owner`;
}

/**
 * Refuses a database beside a log that was written for another file, as when a backup was moved into the place of a
 * database whose process was killed, and a log whose database is missing. Files that were copied together are different
 * ones both, and fit; so does a log that nobody wrote an owner for.
 */
export function refuseForeignLog(path: string): void {
  const real = realPathOf(path);
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

/** Writes down that the log at `path` belongs to the database there. A connection must have both open. */
export function claimLog(path: string): void {
  const real = realpathSync(path);
  const [database, log] = [identityOf(real), identityOf(logOf(real))];
  if (database === undefined || log === undefined) return;
  const owner = readOwner(real);
  if (owner?.database === database && owner.log === log) return;
  try {
    // Half of it, after a power cut, counts as none.
    writeFileSync(ownerFileOf(real), `${JSON.stringify({ database, log })}\n`, { mode: ownerOnly });
    // Whoever may use the database may write down that the log is its own.
    chmodSync(ownerFileOf(real), statSync(real).mode & 0o666);
  } catch {
    // Where no file may be made, the log is used without: the database works as well, and only a later mistake is not seen.
  }
}

/** Removes what {@link claimLog} wrote, once SQLite has removed the log. */
export function disclaimLog(path: string): void {
  try {
    const real = realPathOf(path);
    if (!existsSync(logOf(real))) rmSync(ownerFileOf(real), { force: true });
  } catch {
    // A file that stays names a log that is gone: the next one is another, and the file is written anew.
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

/** Number and time of birth, since numbers of deleted files are used again. Not the device: that differs after a restart. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.ino}:${stat.birthtimeNs}`;
}

/** SQLite keeps a log beside the file that a link leads to. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function foreign(path: string, fault: string, log: string, ways: readonly string[]): ThreadmarkError {
  const remove = `to go on without what is in the log, delete ${log} and ${sharedMemoryOf(log.slice(0, -4))}`;
  return new ThreadmarkError("MOVED", `SQLite: ${path} was not opened: ${fault}. ${[...ways, remove].join("; ")}.`, {
    committed: false,
  });
}
