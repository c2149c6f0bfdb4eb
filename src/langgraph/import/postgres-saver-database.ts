import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { connectForeignDatabase, type ForeignDatabase } from "../../backends/postgres/foreign-database.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { SavedCheckpoint, SavedRow, SavedWrite, SavedWriteKey, SaverDatabase } from "./saver-database.ts";
import { asObject, checkType, deserialize } from "./serialized.ts";

const tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"] as const;

/** Milliseconds to wait for the server. */
const patience = 10_000;

/** Opens the database of a PostgresSaver, in a schema. */
export async function openPostgresSaverDatabase(url: string, schema = "public"): Promise<SaverDatabase> {
  const connection = await connectForeignDatabase(url, patience);
  try {
    const database = new PostgresSaverDatabase(connection, schema);
    await database.check();
    return database;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface StoredBlob {
  readonly channel: string;
  readonly type: string;
  readonly blob: Uint8Array | null;
}

interface StoredWrite extends Omit<SavedWrite, "value"> {
  readonly type: string | null;
  readonly blob: Uint8Array;
}

/** A channel's value at a version, as it was read. */
interface ReadValue {
  readonly version: string;
  readonly value: { readonly present: boolean; readonly value?: unknown };
}

class PostgresSaverDatabase implements SaverDatabase {
  readonly place: string;
  readonly #connection: ForeignDatabase;
  readonly #schema: string;
  /** The values of the checkpoint that was read last, by channel: the next checkpoint has nearly all of them too. */
  #known = new Map<string, ReadValue>();
  #knownOf = "";

  constructor(connection: ForeignDatabase, schema: string) {
    this.#connection = connection;
    this.place = connection.place;
    this.#schema = schema;
  }

  async check(): Promise<void> {
    const found = await this.#query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = $1 and table_name = any($2)",
      [this.#schema, [...tables]],
    );
    const missing = tables.find((table) => found.every(({ name }) => name !== table));
    if (missing !== undefined) {
      throw new ThreadmarkError(
        "NOT_FOUND",
        `${this.place} has no table "${missing}" of LangGraph's PostgresSaver in the schema "${this.#schema}". ` +
          "Name the database that was given to PostgresSaver, and its schema if it is another.",
      );
    }
    for (const table of ["checkpoint_blobs", "checkpoint_writes"] as const) {
      const [first] = await this.#query<{ type: string | null }>(
        `select type from ${this.#table(table)} where type <> 'empty' limit 1`,
      );
      checkType(this.place, first?.type);
    }
  }

  async bytes(): Promise<number> {
    const [row] = await this.#query<{ bytes: string }>(
      "select sum(pg_total_relation_size(name::regclass)) as bytes from unnest($1::text[]) name",
      [tables.map((table) => this.#table(table))],
    );
    return Number(row?.bytes);
  }

  async count(): Promise<number> {
    const [row] = await this.#query<{ n: string }>(`select count(*) as n from ${this.#table("checkpoints")}`);
    return Number(row?.n);
  }

  async threads(): Promise<readonly string[]> {
    const rows = await this.#query<{ id: string }>(
      `select thread_id as id from ${this.#table("checkpoints")} union select thread_id from ${this.#table("checkpoint_writes")} order by 1`,
    );
    return rows.map(({ id }) => id);
  }

  rows(thread: string): Promise<readonly SavedRow[]> {
    return this.#query<SavedRow>(
      `select checkpoint_ns as namespace, checkpoint_id as id, parent_checkpoint_id as parent
       from ${this.#table("checkpoints")} where thread_id = $1`,
      [thread],
    );
  }

  async checkpoint(thread: string, { namespace, id }: SavedRow): Promise<SavedCheckpoint | undefined> {
    const [row] = await this.#query<{ checkpoint: string; metadata: string }>(
      `select checkpoint::text as checkpoint, metadata::text as metadata
       from ${this.#table("checkpoints")} where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = $3`,
      [thread, namespace, id],
    );
    if (row === undefined) return undefined;
    const checkpoint = asObject(JSON.parse(row.checkpoint), "the checkpoint") as Checkpoint;
    return {
      checkpoint: {
        ...checkpoint,
        channel_versions: checkpoint.channel_versions ?? {},
        versions_seen: checkpoint.versions_seen ?? {},
        channel_values: await this.#values(thread, namespace, checkpoint.channel_versions ?? {}),
      },
      metadata: asObject(await deserialize("json", row.metadata), "its metadata") as CheckpointMetadata,
    };
  }

  /** Reads the values of channels at these versions. */
  async #values(
    thread: string,
    namespace: string,
    versions: Readonly<Record<string, string | number>>,
  ): Promise<Record<string, unknown>> {
    const of = JSON.stringify([thread, namespace]);
    const before = of === this.#knownOf ? this.#known : new Map<string, ReadValue>();
    const wanted = Object.entries(versions).map(([channel, version]) => [channel, String(version)] as const);
    const unknown = wanted.filter(([channel, version]) => before.get(channel)?.version !== version);
    const blobs =
      unknown.length === 0
        ? []
        : await this.#query<StoredBlob>(
            `select channel, type, blob from ${this.#table("checkpoint_blobs")}
             join unnest($3::text[], $4::text[]) as wanted (name, number) on channel = name and version = number
             where thread_id = $1 and checkpoint_ns = $2`,
            [thread, namespace, unknown.map(([channel]) => channel), unknown.map(([, version]) => version)],
          );
    const read = new Map<string, unknown>();
    for (const { channel, type, blob } of blobs) {
      if (type !== "empty") read.set(channel, await deserialize(type, blob ?? new Uint8Array()));
    }
    const fresh = new Set(unknown.map(([channel]) => channel));
    const values: [string, unknown][] = [];
    this.#known = new Map();
    this.#knownOf = of;
    for (const [channel, version] of wanted) {
      const value = fresh.has(channel)
        ? { present: read.has(channel), value: read.get(channel) }
        : (before.get(channel) as ReadValue).value;
      this.#known.set(channel, { version, value });
      if (value.present) values.push([channel, value.value]);
    }
    return Object.fromEntries(values);
  }

  writeKeys(thread: string): Promise<readonly SavedWriteKey[]> {
    return this.#query<SavedWriteKey>(
      `select checkpoint_ns as namespace, checkpoint_id as id, task_id as task, idx as index
       from ${this.#table("checkpoint_writes")} where thread_id = $1`,
      [thread],
    );
  }

  async writes(thread: string, { namespace, id }: Pick<SavedRow, "namespace" | "id">): Promise<readonly SavedWrite[]> {
    const rows = await this.#query<StoredWrite>(
      `select task_id as task, idx as index, channel, type, blob from ${this.#table("checkpoint_writes")}
       where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = $3 order by task_id, idx`,
      [thread, namespace, id],
    );
    const writes: SavedWrite[] = [];
    for (const { type, blob, ...write } of rows) writes.push({ ...write, value: await deserialize(type, blob) });
    return writes;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #table(name: (typeof tables)[number]): string {
    return `"${this.#schema.replaceAll('"', '""')}".${name}`;
  }

  #query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    return this.#connection.query<Row>(text, values);
  }
}
