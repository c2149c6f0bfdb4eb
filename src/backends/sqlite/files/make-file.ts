import { fs, path } from "../../../platform/node-builtins.ts";
import { directoryMode } from "../../shared/file-mode.ts";

const { chmodSync, closeSync, existsSync, fchmodSync, fsyncSync, mkdirSync, openSync } = fs;
const { dirname, resolve } = path;

/**
 * Creates the file of a new database and the directories above it, as durable as the commits that will need them.
 * SQLite gives the companion files the mode of the database.
 */
export function makeFile(path: string, mode: number): void {
  makeParents(path, directoryMode(mode));
  const file = create(path, mode);
  if (file === undefined) return;
  try {
    // The process's umask may have removed bits of `mode`.
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a new file; undefined if another process was first. For a dangling link the file is created at the link's
 * target.
 */
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
  const first = makeDirectories(parent, mode);
  if (first === undefined) return;
  // A new directory survives a power cut once its parent is synced.
  for (let made = parent; ; made = dirname(made)) {
    // The process's umask may have removed bits of `mode`.
    chmodSync(made, mode);
    syncDirectory(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/**
 * Makes a directory and those above it that are missing; returns the first of them. Node's own way to do that (`recursive`)
 * never returns where nothing can be made in a directory that is there, as in /proc.
 */
function makeDirectories(directory: string, mode: number): string | undefined {
  const missing: string[] = [];
  for (let path = directory; path !== dirname(path) && !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    try {
      mkdirSync(path, mode);
    } catch (error) {
      // Another process may have been first.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return missing[0];
}

function syncDirectory(path: string): void {
  // Windows cannot sync a directory and need not.
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
