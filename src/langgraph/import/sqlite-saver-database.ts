import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import {
  type ForeignDatabase,
  type ForeignStatement,
  openForeignDatabase,
} from "../../backends/sqlite/foreign-database.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { SavedCheckpoint, SavedRow, SavedWrite, SavedWriteKey, SaverDatabase } from "./saver-database.ts";
import { asObject, checkType, deserialize } from "./serialized.ts";

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

/** Milliseconds to wait for a process that is writing to the database. */
const patience = 10_000;

/** Opens the database of a SqliteSaver. */
export async function openSqliteSaverDatabase(file: string): Promise<SaverDatabase> {
  const path = resolve(file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new ThreadmarkError("NOT_FOUND", `There is no file ${path}. Check the path.`);
  if (!found.isFile())
    throw new ThreadmarkError("NOT_FOUND", `${path} is no file. Name the file that was given to SqliteSaver.`);
  const database = await openForeignDatabase(path, patience);
  try {
    return new SqliteSaverDatabase(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

interface StoredCheckpoint {
  readonly type: string | null;
  readonly checkpoint: string | Uint8Array;
  readonly metadata: string | Uint8Array;
}

interface StoredWrite extends Omit<SavedWrite, "value"> {
  readonly type: string | null;
  readonly value: string | Uint8Array | null;
}

class SqliteSaverDatabase implements SaverDatabase {
  readonly place: string;
  readonly #database: ForeignDatabase;
  readonly #rows: ForeignStatement;
  readonly #checkpoint: ForeignStatement;
  readonly #writeKeys: ForeignStatement;
  readonly #writes: ForeignStatement;

  constructor(database: ForeignDatabase) {
    this.place = database.path;
    this.#database = database;
    checkTables(database);
    for (const table of Object.keys(tables)) {
      const first = database.prepare(`SELECT type FROM ${table} LIMIT 1`).get() as
        | { readonly type: unknown }
        | undefined;
      checkType(this.place, first?.type);
    }
    this.#rows = database.prepare(
      "SELECT checkpoint_ns AS namespace, checkpoint_id AS id, parent_checkpoint_id AS parent FROM checkpoints WHERE thread_id = ?",
    );
    this.#checkpoint = database.prepare(
      "SELECT type, checkpoint, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
    );
    this.#writeKeys = database.prepare(
      'SELECT checkpoint_ns AS namespace, checkpoint_id AS id, task_id AS task, idx AS "index" FROM writes WHERE thread_id = ?',
    );
    this.#writes = database.prepare(
      'SELECT task_id AS task, idx AS "index", channel, type, value FROM writes ' +
        "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx",
    );
  }

  async bytes(): Promise<number> {
    return this.#database.bytes();
  }

  async count(): Promise<number> {
    return (this.#database.prepare("SELECT count(*) AS n FROM checkpoints").get() as { readonly n: number }).n;
  }

  async threads(): Promise<readonly string[]> {
    const sql = "SELECT thread_id AS id FROM checkpoints UNION SELECT thread_id FROM writes ORDER BY 1";
    return (this.#database.prepare(sql).all() as { readonly id: string }[]).map(({ id }) => id);
  }

  async rows(thread: string): Promise<readonly SavedRow[]> {
    return this.#rows.all(thread) as SavedRow[];
  }

  async checkpoint(thread: string, { namespace, id }: SavedRow): Promise<SavedCheckpoint | undefined> {
    const row = this.#checkpoint.get(thread, namespace, id) as StoredCheckpoint | undefined;
    if (row === undefined) return undefined;
    const { type, checkpoint, metadata } = row;
    return {
      checkpoint: asObject(await deserialize(type, checkpoint), "the checkpoint") as Checkpoint,
      metadata: asObject(await deserialize(type, metadata), "its metadata") as CheckpointMetadata,
    };
  }

  async writeKeys(thread: string): Promise<readonly SavedWriteKey[]> {
    return this.#writeKeys.all(thread) as SavedWriteKey[];
  }

  async writes(thread: string, { namespace, id }: Pick<SavedRow, "namespace" | "id">): Promise<readonly SavedWrite[]> {
    const rows = this.#writes.all(thread, namespace, id) as StoredWrite[];
    const writes: SavedWrite[] = [];
    for (const { type, value, ...write } of rows)
      writes.push({ ...write, value: await deserialize(type, value ?? "") });
    return writes;
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function checkTables({ path, prepare }: ForeignDatabase): void {
  for (const [table, columns] of Object.entries(tables)) {
    const rows = prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as {
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
