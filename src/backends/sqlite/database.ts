import { fs } from "../../builtin.ts";
import type { Connection, Driver } from "./driver.ts";
import type { Snapshot } from "./files.ts";
import { copyDatabase, fingerprint } from "./files.ts";
import type { SchemaState } from "./schema.ts";
import { inspectSchema, migrate, rollback } from "./schema.ts";
import { Statements } from "./statements.ts";

const { statSync } = fs;

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
  #state: SchemaState;

  private constructor(connection: Connection, path: string, state: SchemaState, snapshot: Snapshot | undefined) {
    this.connection = connection;
    this.statements = new Statements(connection);
    this.#path = path;
    this.#state = state;
    this.#snapshot = snapshot;
  }

  /** Opens a database where it is, or else a copy of it for reading. */
  static open(driver: Driver, path: string, readOnly: boolean): Database {
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
    const connection = driver.open(location, { readOnly });
    try {
      return new Database(connection, path, inspectSchema(connection, path), snapshot);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Whether the tables are there. A blank database may get them from another process at any time. */
  get ready(): boolean {
    if (this.#state === "blank") this.#state = inspectSchema(this.connection, this.#path);
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
    if (!this.ready) this.connection.exec("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL");
    if (this.#state === "current") return;
    migrate(this.connection, this.#path);
    this.#state = "current";
  }

  rollback(): void {
    rollback(this.connection);
  }

  close(): void {
    this.connection.close();
    this.#snapshot?.remove();
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
