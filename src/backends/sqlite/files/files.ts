import { fs, path } from "../../../platform/node-builtins.ts";
import { directoryMode } from "../../shared/file-mode.ts";

const {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} = fs;
const { basename, dirname, join, resolve } = path;

/** SQLite keeps what was committed last beside the database, under this name. */
export function logOf(path: string): string {
  return `${path}-wal`;
}

/** Processes that use a database tell each other through this file how far its log goes. */
export function sharedMemoryOf(path: string): string {
  return `${path}-shm`;
}

/**
 * Makes the file of a new database, and the directories above it, as durable as the commits that will need them. SQLite
 * gives the files beside a database the mode of the database itself.
 */
export function makeFile(path: string, mode: number): void {
  makeParents(path, directoryMode(mode));
  const file = create(path, mode);
  if (file === undefined) return;
  try {
    // The mode that was asked for, whatever the process's umask takes from the files it makes.
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

/** Opens a new file; undefined if another process was first. A link that leads nowhere yet gets its file where it leads. */
function create(path: string, mode: number): number | undefined {
  try {
    return openSync(path, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return existsSync(path) ? undefined : openSync(path, "a", mode);
  }
}

function makeParents(path: string, mode: number): void {
  const parent = dirname(resolve(path));
  const first = mkdirSync(parent, { recursive: true, mode });
  if (first === undefined) return;
  // A new directory survives a power cut once the one that names it is synced.
  for (let made = parent; ; made = dirname(made)) {
    // As asked for, whatever the process's umask takes from it.
    chmodSync(made, mode);
    syncDirectory(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

function syncDirectory(path: string): void {
  // Windows has no way to sync a directory, and no need to.
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The bytes a database and its log take. */
export function bytesOf(path: string): number {
  return sizeOf(path) + sizeOf(logOf(path));
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Tells two states of a database file apart without opening it. */
export function fingerprint(path: string): string {
  return [path, logOf(path)]
    .map((name) => {
      const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
    })
    .join("|");
}

export interface Snapshot {
  readonly path: string;
  /** Of the original, when it was copied. */
  readonly fingerprint: string;
  remove(): void;
}

/**
 * Copies a database and its log to a place where SQLite can work. SQLite cannot read a database in WAL mode, not even an
 * idle one, where it cannot create the files of its shared memory: on a read-only medium, in a read-only directory.
 */
export function copyDatabase(path: string): Snapshot {
  const directory = mkdtempSync(join(process.getBuiltinModule("node:os").tmpdir(), "threadmark-"));
  const copy = join(directory, basename(path));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    for (let attempt = 0; attempt < 100; attempt++) {
      const before = fingerprint(path);
      copyFileSync(path, copy, constants.COPYFILE_FICLONE);
      rmSync(logOf(copy), { force: true });
      if (existsSync(logOf(path))) copyFileSync(logOf(path), logOf(copy), constants.COPYFILE_FICLONE);
      if (fingerprint(path) === before) return { path: copy, fingerprint: before, remove };
    }
    throw new Error("the file changes faster than it can be copied");
  } catch (error) {
    remove();
    throw error;
  }
}
