import { fs } from "../../../platform/node-builtins.ts";

const { lstatSync, realpathSync, statSync } = fs;

/**
 * Returns the path behind a link: SQLite keeps the log beside the real file. Links among the directories above lead the log
 * the same way as the file. Fails where there is no file.
 */
export function realPathOf(path: string, isLink: boolean = isLinkAt(path)): string {
  return isLink ? realpathSync.native(path) : path;
}

export function isLinkAt(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

/** Returns the path of the log, in which SQLite keeps the latest commits. */
export function logOf(path: string): string {
  return `${path}-wal`;
}

/** Returns the path of the file through which processes share the state of the log. */
export function sharedMemoryOf(path: string): string {
  return `${path}-shm`;
}

/** Returns the size of a database and its log. */
export function bytesOf(path: string): number {
  return sizeOf(path) + sizeOf(logOf(path));
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns a text that differs between two states of a database file, without opening it. */
export function fingerprint(path: string): string {
  return [path, logOf(path)]
    .map((name) => {
      const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? "" : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
    })
    .join("|");
}
