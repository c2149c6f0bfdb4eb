import type { Connection, Driver, DriverFault } from "./contract.ts";

interface BetterOptions {
  readonly readonly: boolean;
  readonly fileMustExist: boolean;
  readonly timeout: number;
}

/** The default export of `better-sqlite3`. */
export type BetterSqlite = new (path: string, options: BetterOptions) => Connection;

const byName: readonly (readonly [string, DriverFault])[] = [
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_READONLY", "readonly"],
  ["SQLITE_IOERR_FSYNC", "sync"],
  ["SQLITE_IOERR_DIR_FSYNC", "sync"],
  ["SQLITE_IOERR", "io"],
  ["SQLITE_CORRUPT", "corrupt"],
  ["SQLITE_FULL", "full"],
  ["SQLITE_CANTOPEN", "cannot-open"],
  ["SQLITE_NOTADB", "not-a-database"],
];

/**
 * Makes a driver of the default export of `better-sqlite3`.
 *
 * @example
 * import Database from "better-sqlite3";
 * const store = await open(await sqlite("agent.db", { driver: betterDriver(Database) }));
 */
export function betterDriver(Database: BetterSqlite): Driver {
  return {
    name: "better-sqlite3",
    open: (path, { readOnly }) => new Database(path, { readonly: readOnly, fileMustExist: readOnly, timeout: 0 }),
    fault(error) {
      const code = (error as { readonly code?: unknown } | undefined)?.code;
      if (typeof code !== "string") return "other";
      // An extended code's name starts with the primary one's, so `byName` lists the extended ones first.
      return byName.find(([name]) => code.startsWith(name))?.[1] ?? "other";
    },
  };
}
