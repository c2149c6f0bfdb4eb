import { ThreadmarkError } from "../../errors.ts";
import { fs } from "../../platform/node-builtins.ts";
import type { Connection, Driver } from "./driver/contract.ts";
import { moved } from "./faults.ts";
import { fingerprint } from "./files/companion-files.ts";
import type { Snapshot } from "./files/copy-database.ts";
import { copyDatabase } from "./files/copy-database.ts";
import { claimLog, disclaimLog, refuseForeignLog } from "./files/log-owner.ts";
import { OpenedFiles } from "./files/opened-files.ts";
import type { SchemaState } from "./schema.ts";
import { inspectSchema, migrate, rollback } from "./schema.ts";
import { Statements } from "./statements.ts";

const { statSync } = fs;

export const inMemory = ":memory:";

/** Set on every connection that commits. On macOS an fsync reaches the medium only with fullfsync; elsewhere that does nothing. */
const durability = {
  full: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON",
  normal: "PRAGMA synchronous = NORMAL",
} as const;

/** An open connection, and what is known of the database behind it. */
export class Database {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly #path: string;
  readonly #snapshot: Snapshot | undefined;
  /** Undefined for what cannot be moved: a copy of our own, a database in memory. */
  #files: OpenedFiles | undefined;
  #state: SchemaState;

  private constructor(
    connection: Connection,
    path: string,
    files: OpenedFiles | undefined,
    state: SchemaState,
    snapshot: Snapshot | undefined,
  ) {
    this.connection = connection;
    this.statements = new Statements(connection);
    this.#path = path;
    this.#files = files;
    this.#state = state;
    this.#snapshot = snapshot;
    if (state !== "blank") this.#noteLog();
  }

  /** Opens a database where it is, or else a copy of it for reading. */
  static open(driver: Driver, path: string, readOnly: boolean): Database {
    if (path !== inMemory) refuseForeignLog(path);
    try {
      return Database.#openAt(driver, path, path, readOnly, undefined);
    } catch (error) {
      const fault = driver.fault(error);
      if ((fault !== "cannot-open" && fault !== "readonly") || !isFile(path)) throw error;
    }
    const snapshot = copyDatabase(path);
    try {
      return Database.#openAt(driver, snapshot.path, path, true, snapshot);
    } catch (error) {
      snapshot.remove();
      throw error;
    }
  }

  static #openAt(
    driver: Driver,
    location: string,
    path: string,
    readOnly: boolean,
    snapshot: Snapshot | undefined,
  ): Database {
    // Before the connection: a file that takes the database's place in between is noticed.
    const files = snapshot !== undefined || path === inMemory ? undefined : OpenedFiles.at(path, false);
    let connection: Connection | undefined;
    try {
      connection = driver.open(location, { readOnly });
      return new Database(connection, path, files, inspectSchema(connection, path), snapshot);
    } catch (error) {
      connection?.close();
      files?.close();
      throw error;
    }
  }

  /** Whether the tables are there. A blank database may get them from another process at any time. */
  get ready(): boolean {
    if (this.#state === "blank") {
      this.#state = inspectSchema(this.connection, this.#path);
      if (this.#state !== "blank") this.#noteLog();
    }
    return this.#state !== "blank";
  }

  /** Whether this is a copy, made because the database itself could not be opened. */
  get isCopy(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Whether this is a copy of what the file no longer holds. */
  get isOutdated(): boolean {
    return this.#snapshot !== undefined && this.#snapshot.fingerprint !== fingerprint(this.#path);
  }

  /** Gets ready for commits: makes a blank database ours, and brings the schema of an earlier version up to date. */
  prepareToCommit(fsync: "full" | "normal"): void {
    this.connection.exec(durability[fsync]);
    // A database that was ours before has no log either, if it was written by VACUUM INTO.
    this.connection.exec("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL");
    if (!this.ready || this.#state !== "current") migrate(this.connection, this.#path);
    this.#state = "current";
    this.#noteLog();
    if (this.#files !== undefined) claimLog(this.#path);
  }

  /** Fails with MOVED before a commit if the files of this database are found not to be those at its path. */
  checkBefore(now: number): void {
    const fault = this.#files?.recentFault(now);
    if (fault !== undefined) throw moved(this.#path, fault, false);
  }

  /** Fails with MOVED unless what was read or committed is in the files at the path. */
  checkAfter(now: number, committed: false | "unknown"): void {
    const fault = this.#files?.fault(now);
    if (fault !== undefined) throw moved(this.#path, fault, committed);
  }

  /** Explains a failure by the files having been moved, if they were: SQLite then reports all kinds of damage. */
  movedBy(error: unknown): ThreadmarkError | undefined {
    if (error instanceof ThreadmarkError) return undefined;
    const fault = this.#files?.fault(performance.now());
    return fault === undefined ? undefined : moved(this.#path, fault, "unknown", error);
  }

  rollback(): void {
    rollback(this.connection);
  }

  close(): void {
    this.connection.close();
    this.#snapshot?.remove();
    if (this.#files === undefined) return;
    this.#files.close();
    disclaimLog(this.#path);
  }

  /** Remembers the log as well, once this connection has read from it: from then on nobody else removes it. */
  #noteLog(): void {
    if (this.#files === undefined) return;
    const files = OpenedFiles.at(this.#path, true);
    const fault = this.#files.fault(performance.now());
    if (fault !== undefined) {
      files?.close();
      throw moved(this.#path, fault, false);
    }
    this.#files.close();
    this.#files = files;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
