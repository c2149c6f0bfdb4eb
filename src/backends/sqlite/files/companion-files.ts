import { fs } from "../../../platform/node-builtins.ts";

const { statSync } = fs;

/** SQLite keeps what was committed last beside the database, under this name. */
export function logOf(path: string): string {
  return `${path}-wal`;
}

/** Processes that use a database tell each other through this file how far its log goes. */
export function sharedMemoryOf(path: string): string {
  return `${path}-shm`;
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
