import { fs, path } from "../../../platform/node-builtins.ts";
import { isLinkAt, logOf, realPathOf, sharedMemoryOf } from "./companion-files.ts";

const { closeSync, fstatSync, lstatSync, openSync, statSync } = fs;
const { dirname } = path;

/**
 * Milliseconds after which the paths are checked even if their directory is unchanged: a directory above it may have
 * been renamed.
 */
const patience = 20;
/** The longest tick of a file system's clock, in milliseconds: an older time cannot also be that of a later change. */
const coarsestTick = 50;
/** Milliseconds for which the check after a commit also serves as the check before the next one. */
const recently = 1;
const asNumbers = { bigint: false } as const;

interface KnownFile {
  readonly path: string;
  readonly isLink: boolean;
  readonly identity: Identity;
}

/** Is unique among existing files. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Remembers the files that a connection has opened, and checks whether they are still those at the database's path.
 *
 * Checking the paths takes a third of a put. The directory is a cheaper indicator: every delete, rename or replacement
 * in it gives it a new time, and only then are the paths checked.
 *
 * Invariant: the files are never opened here. Closing one would release all locks that SQLite holds on it in this
 * process.
 */
export class OpenedFiles {
  /** The path of the database, behind a link. */
  readonly real: string;
  readonly #files: KnownFile[] = [];
  /** Whether the path is a link, which may change in a directory that is not watched. */
  readonly #isLink: boolean;
  /** Undefined where the directory may be used but not read: then the paths are checked every time. */
  readonly #directory: number | undefined;
  /** The directory's time at the last check; undefined when a later change might have the same time. */
  #time: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #fault: string | undefined;

  private constructor(path: string) {
    this.#isLink = isLinkAt(path);
    this.real = realPathOf(path, this.#isLink);
    this.#directory = openDirectory(dirname(this.real));
    this.#know(path, this.#isLink);
    if (this.#isLink) this.#know(this.real, false);
  }

  /**
   * Remembers the database that a connection opens at `path`. Returns undefined on Windows, where an open file can be
   * neither moved nor deleted.
   */
  static at(path: string): OpenedFiles | undefined {
    return process.platform === "win32" ? undefined : new OpenedFiles(path);
  }

  /**
   * Remembers the log and the shared memory too, as far as they exist. Called once the connection has read from the log:
   * from then on no other process removes it.
   */
  knowLog(): void {
    for (const name of [logOf(this.real), sharedMemoryOf(this.real)]) {
      if (!this.#files.some((file) => file.path === name)) this.#know(name, false);
    }
  }

  /**
   * Returns a description once the files are no longer where they were. It stays, even when they are put back: another
   * database may have been used meanwhile. `now`: the time by the performance clock, or slightly earlier.
   */
  fault(now: number): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    this.#checkedAt = now;
    const isUnchanged = this.#time !== undefined && now - this.#lookedAt <= patience;
    if (!isUnchanged || this.#time !== this.#directoryTime()) this.#look(now);
    return this.#fault;
  }

  /** Returns {@link fault}, or the result of a check within the last millisecond. */
  recentFault(now: number): string | undefined {
    return now - this.#checkedAt < recently ? this.#fault : this.fault(now);
  }

  close(): void {
    if (this.#directory !== undefined) closeSync(this.#directory);
  }

  #know(path: string, isLink: boolean): void {
    const identity = identityOf(path, isLink);
    if (identity !== undefined) this.#files.push({ path, isLink, identity });
  }

  #look(now: number): void {
    // Read before the paths, so that any later change makes the next check look again.
    const time = this.#directoryTime();
    this.#time = this.#isLink || !(Date.now() - time > coarsestTick) ? undefined : time;
    this.#lookedAt = now;
    for (const { path, isLink, identity } of this.#files) {
      const found = identityOf(path, isLink);
      if (found?.ino === identity.ino && found.dev === identity.dev) continue;
      this.#fault = `${path} was ${found === undefined ? "deleted or moved away" : "replaced"}`;
      return;
    }
  }

  #directoryTime(): number {
    return this.#directory === undefined ? Number.NaN : fstatSync(this.#directory, asNumbers).ctimeMs;
  }
}

function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") return undefined;
    throw error;
  }
}

/**
 * Returns the identity of the file at a path. A link is followed only where there was one: its target has a log of its own.
 */
function identityOf(path: string, isLink: boolean): Identity | undefined {
  try {
    return (isLink ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    // A file has replaced a directory of the path, or links form a circle.
    if (["ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
