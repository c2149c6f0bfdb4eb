import { fs, os, path } from "../../../platform/node-builtins.ts";
import { fingerprint, logOf } from "./companion-files.ts";

const { constants, copyFileSync, existsSync, mkdtempSync, rmSync } = fs;
const { basename, join } = path;

export interface DatabaseCopy {
  readonly path: string;
  /** Of the original, when it was copied. */
  readonly fingerprint: string;
  remove(): void;
}

/**
 * Copies a database and its log to a temporary directory. SQLite cannot read a database in WAL mode, not even an idle
 * one, where it cannot create the file of its shared memory: on a read-only medium, in a read-only directory.
 */
export function copyDatabase(path: string): DatabaseCopy {
  const directory = mkdtempSync(join(os().tmpdir(), "threadmark-"));
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
