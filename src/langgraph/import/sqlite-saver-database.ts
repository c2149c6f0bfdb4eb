import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import type { Connection, Driver, Statement } from "../../backends/sqlite/driver/contract.ts";
import { findDriver } from "../../backends/sqlite/driver/find-driver.ts";
import { bytesOf } from "../../backends/sqlite/files/companion-files.ts";
import { copyDatabase, type Snapshot } from "../../backends/sqlite/files/copy-database.ts";
import { ThreadmarkError } from "../../errors.ts";
import { asObject, checkType, deserialize } from "./serialized.ts";
import type { Source, SourceCheckpoint, SourceRow, SourceWrite, SourceWriteKey } from "./source.ts";

const tables = {
  checkpoints: [
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
  ],
  writes: ["thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"],
} as const;

/** How long to wait for somebody who writes to the database at the moment. */
const patience = 10_000;

/** The database of a SqliteSaver. */
export async function sqliteSource(file: string): Promise<Source> {
  const path = resolve(file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new ThreadmarkError("NOT_FOUND", `There is no file ${path}.`);
  if (!found.isFile()) throw new ThreadmarkError("NOT_FOUND", `${path} is no file.`);
  const driver = await findDriver();
  const { connection, snapshot } = opened(driver, path);
  try {
    return new SqliteSource(connection, path, snapshot);
  } catch (error) {
    connection.close();
    snapshot?.remove();
    throw error;
  }
}

/** SQLite cannot read a database in WAL mode in a place where it may not write: then a copy is read. */
function opened(driver: Driver, path: string): { connection: Connection; snapshot: Snapshot | undefined } {
  try {
    return { connection: checked(driver, path), snapshot: undefined };
  } catch (error) {
    const fault = driver.fault(error);
    if (fault === "not-a-database" || fault === "corrupt") {
      throw new ThreadmarkError("UNSUPPORTED", `${path} is no SQLite database, or a damaged one.`, { cause: error });
    }
    if (fault !== "cannot-open" && fault !== "readonly") throw error;
  }
  const snapshot = copyDatabase(path);
  try {
    return { connection: checked(driver, snapshot.path), snapshot };
  } catch (cause) {
    snapshot.remove();
    throw new ThreadmarkError("BACKEND", `${path} cannot be read: ${String(cause)}.`, { cause });
  }
}

function checked(driver: Driver, path: string): Connection {
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

interface StoredCheckpoint {
  readonly type: string | null;
  readonly checkpoint: string | Uint8Array;
  readonly metadata: string | Uint8Array;
}

interface StoredWrite extends Omit<SourceWrite, "value"> {
  readonly type: string | null;
  readonly value: string | Uint8Array | null;
}

class SqliteSource implements Source {
  readonly place: string;
  readonly #connection: Connection;
  readonly #snapshot: Snapshot | undefined;
  readonly #rows: Statement;
  readonly #checkpoint: Statement;
  readonly #writeKeys: Statement;
  readonly #writes: Statement;

  constructor(connection: Connection, path: string, snapshot: Snapshot | undefined) {
    this.place = path;
    this.#connection = connection;
    this.#snapshot = snapshot;
    checkTables(connection, path);
    for (const table of Object.keys(tables)) {
      const first = connection.prepare(`SELECT type FROM ${table} LIMIT 1`).get() as
        | { readonly type: unknown }
        | undefined;
      checkType(path, first?.type);
    }
    this.#rows = connection.prepare(
      "SELECT checkpoint_ns AS namespace, checkpoint_id AS id, parent_checkpoint_id AS parent FROM checkpoints WHERE thread_id = ?",
    );
    this.#checkpoint = connection.prepare(
      "SELECT type, checkpoint, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
    );
    this.#writeKeys = connection.prepare(
      'SELECT checkpoint_ns AS namespace, checkpoint_id AS id, task_id AS task, idx AS "index" FROM writes WHERE thread_id = ?',
    );
    this.#writes = connection.prepare(
      'SELECT task_id AS task, idx AS "index", channel, type, value FROM writes ' +
        "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx",
    );
  }

  async bytes(): Promise<number> {
    return bytesOf(this.place);
  }

  async count(): Promise<number> {
    return (this.#connection.prepare("SELECT count(*) AS n FROM checkpoints").get() as { readonly n: number }).n;
  }

  async threads(): Promise<readonly string[]> {
    const sql = "SELECT thread_id AS id FROM checkpoints UNION SELECT thread_id FROM writes ORDER BY 1";
    return (this.#connection.prepare(sql).all() as { readonly id: string }[]).map(({ id }) => id);
  }

  async rows(thread: string): Promise<readonly SourceRow[]> {
    return this.#rows.all(thread) as SourceRow[];
  }

  async checkpoint(thread: string, { namespace, id }: SourceRow): Promise<SourceCheckpoint | undefined> {
    const row = this.#checkpoint.get(thread, namespace, id) as StoredCheckpoint | undefined;
    if (row === undefined) return undefined;
    const { type, checkpoint, metadata } = row;
    return {
      checkpoint: asObject(await deserialize(type, checkpoint), "the checkpoint") as Checkpoint,
      metadata: asObject(await deserialize(type, metadata), "its metadata") as CheckpointMetadata,
    };
  }

  async writeKeys(thread: string): Promise<readonly SourceWriteKey[]> {
    return this.#writeKeys.all(thread) as SourceWriteKey[];
  }

  async writes(
    thread: string,
    { namespace, id }: Pick<SourceRow, "namespace" | "id">,
  ): Promise<readonly SourceWrite[]> {
    const rows = this.#writes.all(thread, namespace, id) as StoredWrite[];
    const writes: SourceWrite[] = [];
    for (const { type, value, ...write } of rows)
      writes.push({ ...write, value: await deserialize(type, value ?? "") });
    return writes;
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#snapshot?.remove();
  }
}

function checkTables(connection: Connection, path: string): void {
  for (const [table, columns] of Object.entries(tables)) {
    const rows = connection.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as {
      readonly name: string;
    }[];
    const missing = columns.filter((column) => rows.every(({ name }) => name !== column));
    if (missing.length === 0) continue;
    const fault = rows.length === 0 ? `no table "${table}"` : `no column "${missing[0]}" in "${table}"`;
    throw new ThreadmarkError(
      "NOT_FOUND",
      `${path} is no database of LangGraph's SqliteSaver: it has ${fault}. Name the file that was given to SqliteSaver.`,
    );
  }
}
