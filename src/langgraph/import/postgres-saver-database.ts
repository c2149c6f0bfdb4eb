import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { notConnected, toError } from "../../backends/postgres/connection/failure.ts";
import { type ClientLike, describeUrl, openPool, type PoolLike } from "../../backends/postgres/connection/pool.ts";
import { ThreadmarkError } from "../../errors.ts";
import { asObject, checkType, deserialize } from "./serialized.ts";
import type { Source, SourceCheckpoint, SourceRow, SourceWrite, SourceWriteKey } from "./source.ts";

const tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"] as const;

/** Milliseconds to wait for the server. */
const patience = 10_000;

/** The database of a PostgresSaver, in a schema. */
export async function postgresSource(url: string, schema = "public"): Promise<Source> {
  const place = describeUrl(url);
  const pool = await openPool(url, { connections: 1, patience });
  // A connection that fails while nobody uses it: the next statement says so.
  pool.on("error", () => undefined);
  try {
    const client = await pool.connect().catch((cause: unknown) => {
      throw toError(place, notConnected(cause));
    });
    const source = new PostgresSource(pool, client, place, schema);
    await source.check().catch(async (error: unknown) => {
      client.release();
      throw error;
    });
    return source;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface StoredBlob {
  readonly channel: string;
  readonly type: string;
  readonly blob: Uint8Array | null;
}

interface StoredWrite extends Omit<SourceWrite, "value"> {
  readonly type: string | null;
  readonly blob: Uint8Array;
}

/** A value that was read, by the version it has there. */
interface Known {
  readonly version: string;
  readonly value: { readonly present: boolean; readonly value?: unknown };
}

class PostgresSource implements Source {
  readonly place: string;
  readonly #pool: PoolLike;
  readonly #client: ClientLike;
  readonly #schema: string;
  /** The values of the checkpoint that was read last, by channel: of the next one, nearly all are the same. */
  #known = new Map<string, Known>();
  #knownOf = "";

  constructor(pool: PoolLike, client: ClientLike, place: string, schema: string) {
    this.#pool = pool;
    this.#client = client;
    this.place = place;
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

  rows(thread: string): Promise<readonly SourceRow[]> {
    return this.#query<SourceRow>(
      `select checkpoint_ns as namespace, checkpoint_id as id, parent_checkpoint_id as parent
       from ${this.#table("checkpoints")} where thread_id = $1`,
      [thread],
    );
  }

  async checkpoint(thread: string, { namespace, id }: SourceRow): Promise<SourceCheckpoint | undefined> {
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

  /** The values of channels at these versions. */
  async #values(
    thread: string,
    namespace: string,
    versions: Readonly<Record<string, string | number>>,
  ): Promise<Record<string, unknown>> {
    const of = JSON.stringify([thread, namespace]);
    const before = of === this.#knownOf ? this.#known : new Map<string, Known>();
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
        : (before.get(channel) as Known).value;
      this.#known.set(channel, { version, value });
      if (value.present) values.push([channel, value.value]);
    }
    return Object.fromEntries(values);
  }

  writeKeys(thread: string): Promise<readonly SourceWriteKey[]> {
    return this.#query<SourceWriteKey>(
      `select checkpoint_ns as namespace, checkpoint_id as id, task_id as task, idx as index
       from ${this.#table("checkpoint_writes")} where thread_id = $1`,
      [thread],
    );
  }

  async writes(
    thread: string,
    { namespace, id }: Pick<SourceRow, "namespace" | "id">,
  ): Promise<readonly SourceWrite[]> {
    const rows = await this.#query<StoredWrite>(
      `select task_id as task, idx as index, channel, type, blob from ${this.#table("checkpoint_writes")}
       where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = $3 order by task_id, idx`,
      [thread, namespace, id],
    );
    const writes: SourceWrite[] = [];
    for (const { type, blob, ...write } of rows) writes.push({ ...write, value: await deserialize(type, blob) });
    return writes;
  }

  async close(): Promise<void> {
    this.#client.release();
    await this.#pool.end();
  }

  #table(name: (typeof tables)[number]): string {
    return `"${this.#schema.replaceAll('"', '""')}".${name}`;
  }

  async #query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return ((await this.#client.query({ text, values })) as { readonly rows: readonly Row[] }).rows;
    } catch (cause) {
      throw toError(this.place, notConnected(cause));
    }
  }
}
