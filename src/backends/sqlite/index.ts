import type { Answer, Backend, Batch, Capabilities, Read, Snapshot } from "../../backend.ts";
import { checkBackendOptions } from "../../model/validation/store/open.ts";
import { fs, path } from "../../platform/node-builtins.ts";
import { answerEmpty } from "../shared/empty-answers.ts";
import { checkedMode } from "../shared/file-mode.ts";
import { Hearers } from "../shared/hearers.ts";
import { applyBatches } from "./commits.ts";
import { compactFile, emptyLog, reclaimPages, vacuum } from "./compaction.ts";
import { Database, inMemory } from "./database.ts";
import type { Driver } from "./driver/contract.ts";
import { findDriver } from "./driver/find-driver.ts";
import { readOnly, translate } from "./faults.ts";
import { bytesOf } from "./files/companion-files.ts";
import { refuseForeignLog } from "./files/log-owner.ts";
import { makeFile } from "./files/make-file.ts";
import { hearCommits } from "./hear-commits.ts";
import { LockSharing } from "./lock-sharing.ts";
import { integrityFaults, noSizes, pageBytes, sizesOf, type TableSizes } from "./measures.ts";
import { answerInTransaction, answerReads } from "./reads.ts";

export { type BetterSqlite, betterDriver } from "./driver/better-driver.ts";
export { type BunSqlite, bunDriver } from "./driver/bun-driver.ts";
export type { Bound, Connection, Driver, DriverFault, Statement } from "./driver/contract.ts";
export { type Libsql, libsqlDriver } from "./driver/libsql-driver.ts";
export { nodeDriver } from "./driver/node-driver.ts";

const { existsSync } = fs;
const { resolve } = path;

/** Options of `sqlite`. */
export interface SqliteOptions {
  /** `full` (the default): a commit survives a power cut. `normal`: it survives the end of the process. */
  readonly fsync?: "full" | "normal";
  /** Whether every change is refused with READ_ONLY. @default false */
  readonly readOnly?: boolean;
  /**
   * Milliseconds that a commit waits while other processes write, and a compaction while they read, before it fails
   * with BUSY. Default 30,000.
   */
  readonly busyTimeout?: number;
  /** The permissions of new files, as in `0o660`. Default `0o600`: for the owner only. */
  readonly mode?: number;
  /** Default: `node:sqlite`, else `better-sqlite3`, else `libsql`, whichever is there. */
  readonly driver?: Driver;
}

/**
 * Opens a store in one SQLite file, which any number of processes on one machine may use at once. Nothing is created
 * before the first commit.
 *
 * @example
 * const store = await open(await sqlite("agent.db", { fsync: "normal" }));
 */
export async function sqlite(path: string, options: SqliteOptions = {}): Promise<Backend> {
  if (typeof path !== "string" || path === "") throw new TypeError("sqlite: the path must be a non-empty string");
  checkBackendOptions(options, "sqlite");
  const driver = options.driver ?? (await findDriver());
  const backend = new SqliteBackend(driver, path === inMemory ? path : resolve(path), options);
  // Refuses an unusable file now, not at the first read.
  await backend.read([]);
  return backend;
}

class SqliteBackend implements Backend {
  readonly name = "sqlite";
  readonly capabilities: Capabilities;
  readonly #driver: Driver;
  readonly #path: string;
  readonly #fsync: "full" | "normal";
  readonly #readOnly: boolean;
  readonly #busyTimeout: number;
  readonly #mode: number;
  readonly #lock: LockSharing;
  readonly #hearers: Hearers;
  #database: Database | undefined;
  /** The open database, once it is prepared to commit. */
  #writable: Database | undefined;

  constructor(driver: Driver, path: string, options: SqliteOptions) {
    const { fsync = "full", readOnly = false, busyTimeout = 30_000 } = options;
    this.#driver = driver;
    this.#path = path;
    this.#fsync = fsync;
    this.#readOnly = readOnly;
    this.#busyTimeout = busyTimeout;
    this.#mode = checkedMode(options.mode);
    this.#lock = new LockSharing((error) => driver.fault(error) === "busy", busyTimeout);
    this.capabilities = { durable: path !== inMemory, processes: path !== inMemory };
    const hearOthers = (tell: () => void): (() => void) => hearCommits(path, () => this.#version(), tell);
    this.#hearers = path === inMemory ? new Hearers() : new Hearers(hearOthers);
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return this.#look(
      (database) => answerReads(database, reads),
      () => reads.map(answerEmpty),
    );
  }

  commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const applied = this.#write((database) => applyBatches(database, batches));
    return this.#hearers.any ? applied.finally(() => this.#hearers.tell()) : applied;
  }

  hear(callback: () => void): () => void {
    return this.#hearers.hear(callback);
  }

  /** Returns a number that differs after a commit of another connection; undefined if it cannot be told, as after a fault. */
  #version(): number | undefined {
    try {
      return this.#forReading()?.statements.dataVersion() ?? -1;
    } catch {
      // Readers are told, and get the error.
      return undefined;
    }
  }

  async size(): Promise<{ tables: TableSizes; total: number }> {
    const sizes = await this.#look(sizesOf, noSizes);
    return { tables: sizes, ...(await this.total()) };
  }

  async total(): Promise<{ total: number }> {
    return { total: this.#path === inMemory ? await this.#look(pageBytes, () => 0) : bytesOf(this.#path) };
  }

  async compact(): Promise<void> {
    if (this.#readOnly) throw readOnly(this.#path);
    if (!this.#exists()) return;
    await this.#write(cutLog);
    if (this.#path === inMemory) await this.#write(vacuum);
    else await compactFile((action) => this.#write(action), this.#path, this.#busyTimeout);
  }

  async reclaim(lineages: readonly number[]): Promise<boolean> {
    if (this.#readOnly) throw readOnly(this.#path);
    if (!this.#exists()) return false;
    const isMore = await this.#write(reclaimPages);
    // The log has grown by what was moved. While others read, it is emptied another time.
    if (!isMore && lineages.length === 0 && this.#path !== inMemory) await this.#write(emptyLog);
    return isMore;
  }

  async snapshot(): Promise<Snapshot | undefined> {
    if (this.#path === inMemory || !this.#exists()) return undefined;
    const database = Database.open(this.#driver, this.#path, true);
    const close = async (): Promise<void> => database.close();
    try {
      if (!database.ready || database.lacks("entry")) {
        await close();
        return undefined;
      }
      // The transaction begins with its first read.
      database.statements.beginRead();
      answerInTransaction(database, [{ list: { limit: 1 } }]);
    } catch (error) {
      await close();
      throw this.#translate(error);
    }
    const read = async (reads: readonly Read[]): Promise<readonly Answer[]> => {
      try {
        return answerInTransaction(database, reads);
      } catch (error) {
        throw this.#translate(error);
      }
    };
    return { read, close };
  }

  async verify(): Promise<readonly string[]> {
    try {
      return await this.#look(integrityFaults, () => []);
    } catch (error) {
      // Damage that stops the check is a finding, not a failure of the check.
      if ((error as { readonly code?: unknown }).code === "CORRUPT") return [(error as Error).message];
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#hearers.stop();
    const database = this.#database;
    this.#database = undefined;
    this.#writable = undefined;
    database?.close();
  }

  /** Runs an action that reads; `absent` answers for a store that does not exist. */
  #look<Result>(action: (database: Database) => Result, absent: () => Result): Promise<Result> {
    return this.#lock.read(() => {
      try {
        const database = this.#forReading();
        if (database === undefined) return absent();
        const result = action(database);
        database.checkAfter(performance.now(), false);
        return result;
      } catch (error) {
        throw this.#translate(error);
      }
    });
  }

  #write<Result>(action: (database: Database) => Result): Promise<Result> {
    return this.#lock.write((now) => {
      try {
        return this.#checkedWrite(action, now);
      } catch (error) {
        throw this.#translate(error);
      }
    });
  }

  /**
   * Runs an action that commits on the database at the path. The check before it keeps commits out of a log that
   * another database may use by now; the check after it keeps a misplaced commit from being acknowledged.
   */
  #checkedWrite<Result>(action: (database: Database) => Result, now: number): Result {
    const database = this.#writable ?? this.#forWriting();
    database.checkBefore(now);
    const result = action(database);
    database.checkAfter(now, "unknown");
    return result;
  }

  #forReading(): Database | undefined {
    if (this.#database?.isOutdated) {
      this.#database.close();
      this.#database = undefined;
    }
    if (!this.#exists()) {
      refuseForeignLog(this.#path);
      return undefined;
    }
    const database = this.#open();
    return database.ready ? database : undefined;
  }

  #forWriting(): Database {
    if (this.#readOnly) throw readOnly(this.#path);
    if (!this.#exists()) {
      refuseForeignLog(this.#path);
      makeFile(this.#path, this.#mode);
    }
    const database = this.#open();
    if (database.isCopy) throw readOnly(this.#path);
    database.prepareToCommit(this.#fsync);
    this.#writable = database;
    return database;
  }

  #open(): Database {
    this.#database ??= Database.open(this.#driver, this.#path, this.#readOnly);
    return this.#database;
  }

  #exists(): boolean {
    return this.#path === inMemory || this.#database !== undefined || existsSync(this.#path);
  }

  /** Translates an error, except for busy: the queue for the lock decides when that becomes an error. */
  #translate(error: unknown): unknown {
    if (this.#driver.fault(error) === "busy") return error;
    return this.#database?.movedBy(error) ?? translate(this.#driver, this.#path, error);
  }
}

function cutLog({ statements }: Database): void {
  statements.cutLog();
}
