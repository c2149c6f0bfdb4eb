import { fs, path } from "../../../platform/node-builtins.ts";
import { directoryMode } from "../../shared/file-mode.ts";

const { chmodSync, closeSync, existsSync, fchmodSync, fsyncSync, mkdirSync, openSync } = fs;
const { dirname, resolve } = path;

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
