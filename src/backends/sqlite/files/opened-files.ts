import { fs, path } from "../../../platform/node-builtins.ts";
import { logOf, sharedMemoryOf } from "./companion-files.ts";

const { closeSync, fstatSync, lstatSync, openSync, realpathSync, statSync } = fs;
const { dirname } = path;

/** How often the paths are looked at whatever their directory says, in milliseconds: one above it may have been renamed. */
const patience = 20;
/** No file system's clock ticks more rarely than this, in milliseconds: a time that is older is no later change's as well. */
const coarsestTick = 50;
/** In a quick succession of commits the check after one, in milliseconds, is as good as one before the next. */
const recently = 1;
const asNumbers = { bigint: false } as const;

interface KnownFile {
  readonly path: string;
  readonly isLink: boolean;
  readonly identity: string;
}

/**
 * Knows which files a connection has open, and tells whether they are still the ones at the database's path.
 *
 * A look at their paths takes a third of a put. The directory tells as much in one cheaper call: whatever is deleted,
 * renamed or replaced in it gives it a new time, and the paths are looked at when that differs.
 *
 * Invariant: the files are never opened here. Closing one would release all locks that SQLite holds on it in this process.
 */
export class OpenedFiles {
  readonly #files: readonly KnownFile[];
  /** Whether the path is a link, which may change in a directory that is not watched. */
  readonly #isLink: boolean;
  /** Undefined where the directory may be used but not read: then the paths are looked at every time. */
  readonly #directory: number | undefined;
  /** The directory's time at the last look; undefined when a later change might have the same. */
  #time: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #fault: string | undefined;

  private constructor(files: readonly KnownFile[], isLink: boolean, directory: string) {
    this.#files = files;
    this.#isLink = isLink;
    this.#directory = openDirectory(directory);
  }

  /**
   * Remembers the files that a connection has opened at `path`: the database and, where `log` says so, its log and its
   * shared memory. Undefined on Windows, where a file that is open can be neither moved nor deleted.
   */
  static at(path: string, log: boolean): OpenedFiles | undefined {
    if (process.platform === "win32") return undefined;
    const real = realpathSync(path);
    const isLink = lstatSync(path).isSymbolicLink();
    const files: KnownFile[] = [];
    const know = (name: string, link: boolean): void => {
      const identity = identityOf(name, link);
      if (identity !== undefined) files.push({ path: name, isLink: link, identity });
    };
    know(path, isLink);
    if (isLink) know(real, false);
    if (log) know(logOf(real), false);
    if (log) know(sharedMemoryOf(real), false);
    return new OpenedFiles(files, isLink, dirname(real));
  }

  /**
   * Says what became of the files once they are no longer where they were. It stays said, even when they are put back:
   * another database may have been used in their place. `now`: the time by the performance clock, or a little before.
   */
  fault(now: number): string | undefined {
    if (this.#fault !== undefined) return this.#fault;
    this.#checkedAt = now;
    if (now - this.#lookedAt > patience || this.#time !== this.#directoryTime()) this.#look(now);
    return this.#fault;
  }

  /** Says the same, where a check in the last millisecond is good enough. */
  recentFault(now: number): string | undefined {
    return now - this.#checkedAt < recently ? this.#fault : this.fault(now);
  }

  close(): void {
    if (this.#directory !== undefined) closeSync(this.#directory);
  }

  #look(now: number): void {
    // Taken before the paths are looked at: whatever happens to them from here on makes the next check look again.
    const time = this.#directoryTime();
    this.#time = this.#isLink || !(Date.now() - time > coarsestTick) ? undefined : time;
    this.#lookedAt = now;
    for (const { path, isLink, identity } of this.#files) {
      const found = identityOf(path, isLink);
      if (found === identity) continue;
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

/** Tells a file from all others that exist. A link is followed only where there was one: it leads to a log of its own. */
function identityOf(path: string, isLink: boolean): string | undefined {
  try {
    const stat = (isLink ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false });
    return stat && `${stat.dev}:${stat.ino}`;
  } catch (error) {
    // A file is where a directory of the path was, or links lead in a circle.
    if (["ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
