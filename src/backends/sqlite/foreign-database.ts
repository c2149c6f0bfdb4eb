import { ThreadmarkError } from "../../errors.ts";
import type { Connection, Driver, Statement } from "./driver/contract.ts";
import { findDriver } from "./driver/find-driver.ts";
import { bytesOf } from "./files/companion-files.ts";
import { copyDatabase } from "./files/copy-database.ts";

/** The SQLite database of another program, open for reading. */
export interface ForeignDatabase {
  readonly path: string;
  prepare(sql: string): ForeignStatement;
  /** Returns the bytes of the file and its log. */
  bytes(): number;
  close(): void;
}

export type ForeignStatement = Pick<Statement, "get" | "all">;

/** Opens the database of another program for reading. `patience`: milliseconds to wait for a writer. */
export async function openForeignDatabase(path: string, patience: number): Promise<ForeignDatabase> {
  const driver = await findDriver();
  try {
    return foreignDatabase(path, connect(driver, path, patience));
  } catch (error) {
    const fault = driver.fault(error);
    if (fault === "not-a-database" || fault === "corrupt") {
      throw new ThreadmarkError("UNSUPPORTED", `${path} is no SQLite database, or a damaged one. Check the path.`, {
        cause: error,
      });
    }
    if (fault !== "cannot-open" && fault !== "readonly") throw error;
  }
  // SQLite cannot read a database in WAL mode where it may not write: a copy is read instead.
  const snapshot = copyDatabase(path);
  try {
    return foreignDatabase(path, connect(driver, snapshot.path, patience), snapshot.remove);
  } catch (cause) {
    snapshot.remove();
    throw new ThreadmarkError(
      "BACKEND",
      `${path} cannot be read: ${String(cause)}. Check that this process may read it.`,
      { cause },
    );
  }
}

function foreignDatabase(path: string, connection: Connection, removeCopy?: () => void): ForeignDatabase {
  return {
    path,
    prepare: (sql) => connection.prepare(sql),
    bytes: () => bytesOf(path),
    close: () => {
      connection.close();
      removeCopy?.();
    },
  };
}

/** Opens a connection and reads from it, because SQLite looks at a file only when it is first read. */
function connect(driver: Driver, path: string, patience: number): Connection {
  const connection = driver.open(path, { readOnly: true });
  try {
    connection.exec(`PRAGMA busy_timeout = ${patience}`);
    connection.prepare("SELECT name FROM sqlite_master LIMIT 1").all();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
