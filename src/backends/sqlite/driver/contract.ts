/**
 * A SQLite driver, as the backend needs it. Both `node:sqlite` and `better-sqlite3` fit by structure; pass another one
 * as `sqlite(path, { driver })`.
 */
export interface Driver {
  readonly name: string;
  /** Opens a database file (created if absent, unless `readOnly`), or `:memory:`. Its own busy timeout must be 0. */
  open(path: string, options: { readonly readOnly: boolean }): Connection;
  /** Classifies an error of this driver. */
  fault(error: unknown): DriverFault;
}

/** An open database. */
export interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

/** A prepared statement. */
export interface Statement {
  run(...values: Bound[]): { readonly changes: number | bigint };
  get(...values: Bound[]): unknown;
  all(...values: Bound[]): unknown[];
}

/** A value that is bound to a parameter. */
export type Bound = string | number | Uint8Array | null;

/**
 * SQLite's result codes, as far as they differ here. `sync`: an fsync failed, so the commit may or may not be on the
 * medium. `other`: everything else, including errors that are not SQLite's.
 */
export type DriverFault =
  | "busy"
  | "readonly"
  | "full"
  | "io"
  | "sync"
  | "corrupt"
  | "not-a-database"
  | "cannot-open"
  | "other";

const byPrimaryCode: Readonly<Record<number, DriverFault>> = {
  5: "busy",
  6: "busy",
  8: "readonly",
  10: "io",
  11: "corrupt",
  13: "full",
  14: "cannot-open",
  26: "not-a-database",
};

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const failedSyncs: ReadonlySet<number> = new Set([10 | (4 << 8), 10 | (5 << 8)]);

/** Returns the fault of an extended result code of SQLite. */
export function faultOfCode(code: number): DriverFault {
  if (failedSyncs.has(code)) return "sync";
  return byPrimaryCode[code & 0xff] ?? "other";
}
