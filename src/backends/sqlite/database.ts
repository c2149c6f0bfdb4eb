import type { Stored } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { fs } from "../../platform/node-builtins.ts";
import type { Connection, Driver } from "./driver/contract.ts";
import { moved } from "./faults.ts";
import { fingerprint } from "./files/companion-files.ts";
import type { DatabaseCopy } from "./files/copy-database.ts";
import { copyDatabase } from "./files/copy-database.ts";
import { claimLog, disclaimLog, refuseForeignLog } from "./files/log-owner.ts";
import { OpenedFiles } from "./files/opened-files.ts";
import type { SchemaState } from "./schema.ts";
import { inspectSchema, lacksTable, migrate, rollback, schemaVersion } from "./schema.ts";
import { Statements } from "./statements.ts";

const { statSync } = fs;

export const inMemory = ":memory:";

/**
 * Set on every connection that commits. On macOS an fsync reaches the medium only with fullfsync; elsewhere that has no
 * effect.
 */
const durability = {
  full: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON",
  normal: "PRAGMA synchronous = NORMAL",
} as const;

/** An open connection with its prepared statements, and the state of the database behind it. */
export class Database {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly #path: string;
  readonly #snapshot: DatabaseCopy | undefined;
  /** Undefined for a private copy and for a database in memory, which cannot be moved. */
  readonly #files: OpenedFiles | undefined;
  #state: SchemaState;

  private constructor(
    connection: Connection,
    path: string,
    files: OpenedFiles | undefined,
    state: SchemaState,
    snapshot: DatabaseCopy | undefined,
  ) {
    this.connection = connection;
    this.statements = new Statements(connection);
    this.#path = path;
    this.#files = files;
    this.#state = state;
    this.#snapshot = snapshot;
    if (state !== "blank") files?.knowLog();
  }

  /** Opens a database in place, or a copy of it for reading where that fails. */
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
    snapshot: DatabaseCopy | undefined,
  ): Database {
    // Before the connection, so that a file that replaces the database in between is noticed.
    const files = snapshot !== undefined || path === inMemory ? undefined : OpenedFiles.at(path);
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

  /** Returns whether the tables exist. Another process may create those of a blank database at any time. */
  get ready(): boolean {
    if (this.#state === "blank") {
      this.#state = inspectSchema(this.connection, this.#path);
      if (this.#state !== "blank") this.#files?.knowLog();
    }
    return this.#state !== "blank";
  }

  /** Returns whether the database is of an earlier version that has no such table. Another process may add it. */
  lacks(table: Stored): boolean {
    return this.#state !== "current" && lacksTable(schemaVersion(this.connection), table);
  }

  /** Returns whether this is a copy, made because the database itself could not be opened. */
  get isCopy(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Returns whether this is a copy of an outdated state of the file. */
  get isOutdated(): boolean {
    return this.#snapshot !== undefined && this.#snapshot.fingerprint !== fingerprint(this.#path);
  }

  /** Prepares for commits: creates the tables of a blank database, and migrates the schema of an earlier version. */
  prepareToCommit(fsync: "full" | "normal"): void {
    this.connection.exec(durability[fsync]);
    // A database written by VACUUM INTO has the tables but no log. An older database gets the auto-vacuum with its next VACUUM.
    this.connection.exec("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    if (!this.ready || this.#state !== "current") migrate(this.connection, this.#path);
    this.#state = "current";
    if (this.#files === undefined) return;
    this.#files.knowLog();
    // A database that was replaced meanwhile must not become the owner of this log.
    this.checkAfter(performance.now(), false);
    claimLog(this.#files.real);
  }

  /** Fails with MOVED before a commit if this database's files are known not to be those at its path. */
  checkBefore(now: number): void {
    const fault = this.#files?.recentFault(now);
    if (fault !== undefined) throw moved(this.#path, fault, false);
  }

  /** Fails with MOVED unless the files that are open, and were read or written, are those at the path. */
  checkAfter(now: number, committed: false | "unknown"): void {
    const fault = this.#files?.fault(now);
    if (fault !== undefined) throw moved(this.#path, fault, committed);
  }

  /** Returns MOVED for an error if the files were moved: SQLite then reports all kinds of damage. */
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
    disclaimLog(this.#files.real);
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
