import { createHash } from "node:crypto";
import { ThreadmarkError } from "../../../errors.ts";
import { ServerFailure } from "../../shared/failure.ts";
import { isMissing, notAnswered } from "../connection/failure.ts";
import type { ClientLike, QueryResult } from "../connection/pool.ts";
import type { Server } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { quote } from "./layout.ts";
import { createTables } from "./migrations/0001-tables.ts";
import { createApply } from "./migrations/0002-apply.ts";
import { indexTapeNumbers } from "./migrations/0003-tape-numbers.ts";
import { createIndexAndLog } from "./migrations/0004-index-and-log.ts";
import { createWideApply } from "./migrations/0005-wide-numbers.ts";
import { createShard } from "./migrations/1001-shard.ts";

interface Target {
  /** The schema's name, quoted. */
  readonly schema: string;
  readonly partitions: number;
}

/** A kind of schema: a store of its own, or one of the shards of a store. */
export interface SchemaKind {
  /** Append-only: a migration that ran is never changed, but followed by another. */
  readonly migrations: readonly ((target: Target) => string)[];
  /** The number of the first migration. Numbers tell the kinds apart, also to versions that know one kind only. */
  readonly first: number;
  /** The layout that this version writes. */
  readonly latest: number;
}

export const wholeStore: SchemaKind = kind(1, [
  ({ schema, partitions }) => createTables(schema, partitions),
  ({ schema }) => createApply(schema),
  ({ schema }) => indexTapeNumbers(schema),
  ({ schema, partitions }) => createIndexAndLog(schema, partitions),
  ({ schema }) => createWideApply(schema),
]);

export const shardOfStore: SchemaKind = kind(1001, [({ schema }) => createShard(schema)]);

function kind(first: number, migrations: SchemaKind["migrations"]): SchemaKind {
  return { migrations, first, latest: first + migrations.length - 1 };
}

export interface SchemaLayout {
  /** The number of the last migration; 0 when there is none. */
  readonly number: number;
  /** Whether the tables hold numbers of tapes below 2^31 only, as those made before layout 5 do. */
  readonly isNarrow: boolean;
  /** Whether the database has the extension Citus. */
  readonly hasCitus: boolean;
}

/** Facts of the catalogs: whether the tables in the schema of $1 are narrow, and whether the extension Citus is there. */
const facts = `exists (
    select from pg_attribute where attrelid = to_regclass($1::text) and attname = 'lineage' and atttypid = 'int4'::regtype
  ), to_regclass('pg_catalog.pg_dist_partition') is not null`;

/**
 * Reads the schema's layout. Also where there is none, a value is read, so that a connection with unreadable values is
 * detected. The query has a parameter because values of an unnamed query without one always come as text.
 */
export async function readLayout(server: Server, schema: string): Promise<SchemaLayout> {
  const quoted = quote(schema);
  const number = "select coalesce(max(number), 0)";
  const table = `${quoted}.net`;
  try {
    return layoutOf(await server.run(statement(`${number}, ${facts} from ${quoted}.migration`), [table]));
  } catch (error) {
    if (!(error instanceof ServerFailure) || error.passing) throw error;
    const layout = layoutOf(await server.run(statement(`select 0, ${facts}`), [table]));
    if (isMissing(error)) return layout;
    if (!layout.hasCitus) throw error;
    // Citus reads no table that it has distributed together with the catalogs.
    const { rows } = await server.run(statement(`${number} from ${quoted}.migration`), []);
    return { ...layout, number: Number((rows as readonly [readonly [string]])[0][0]) };
  }
}

function layoutOf({ rows }: QueryResult): SchemaLayout {
  const [[number, isNarrow, hasCitus]] = rows as readonly [readonly [string, string, string]];
  return { number: Number(number), isNarrow: isNarrow === "t", hasCitus: hasCitus === "t" };
}

/** Fails with VERSION at the layout of a later version. */
export function refuseLaterLayout(
  layout: number,
  server: Server,
  schema: string,
  { latest }: SchemaKind = wholeStore,
): void {
  if (layout <= latest) return;
  throw new ThreadmarkError(
    "VERSION",
    `${server.address}: the schema ${schema} has layout ${layout}, this version knows up to ${latest}: update threadmark.`,
  );
}

/**
 * Migrates the schema to the latest layout in one transaction. Of several simultaneous processes the first does it, and
 * the others wait for the lock and find it done.
 */
export async function migrate(server: Server, schema: string, kind: SchemaKind, partitions = 0): Promise<void> {
  await changeSchema(server, schema, async (run, layout) => {
    if (layout > 0 && layout < kind.first) throw otherKind(server, schema);
    if (kind === wholeStore) refuseShard(layout, server, schema);
    refuseLaterLayout(layout, server, schema, kind);
    for (const [index, migration] of kind.migrations.entries()) {
      const number = kind.first + index;
      if (number <= layout) continue;
      await run(migration({ schema: quote(schema), partitions }));
      await run(`insert into ${quote(schema)}.migration (number) values (${number})`);
    }
  });
}

/** Fails if the schema has a part of a store with shards. */
export function refuseShard(layout: number, server: Server, schema: string): void {
  if (layout < shardOfStore.first) return;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `${server.address}: the schema ${schema} belongs to a store with shards. Open that store by the schema it is named after, ` +
      "and again if it was made since.",
    { committed: false },
  );
}

/** Returns the error for a schema that has a store of its own where a shard, or the record of the shards, should be. */
export function otherKind(server: Server, schema: string): ThreadmarkError {
  return new ThreadmarkError(
    "UNSUPPORTED",
    `${server.address}: the schema ${schema} has a store without shards. Open it without \`shards\`, or export it into a ` +
      "store with shards in another schema.",
    { committed: false },
  );
}

/** Runs a statement without values, or several in one text, and returns the rows. */
export type RunSql = (text: string) => Promise<readonly string[][]>;

/**
 * Changes the tables of a schema in one transaction, of which there is one at a time. Makes the schema, and the table that its
 * layout is in, where they are missing. `change` gets the layout so far; 0 for none.
 */
export async function changeSchema(
  server: Server,
  schema: string,
  change: (run: RunSql, layout: number) => Promise<void>,
): Promise<void> {
  await server.with(async (client) => {
    const run: RunSql = (text) => execute(client, text);
    await run("begin");
    try {
      // The next statement begins after the lock is held, so it sees the previous holder's changes.
      await run(`select pg_advisory_xact_lock(${lockSpace}, ${lockNumber(schema)})`);
      // On Citus, tables are made as those of any schema; elsewhere the setting means nothing.
      await run("set local citus.enable_schema_based_sharding to off");
      await prepareSchema(client, schema);
      await change(run, Number((await run(`select max(number) from ${quote(schema)}.migration`))[0]?.[0] ?? 0));
      await run("commit");
    } catch (error) {
      await run("rollback").catch(() => {});
      throw error;
    }
  });
}

/**
 * Creates the schema only where it is missing: `create schema if not exists` needs the right to create schemas even
 * where there is nothing to create.
 */
async function prepareSchema(client: ClientLike, schema: string): Promise<void> {
  const quoted = quote(schema);
  const [[encoding, present, migrated] = []] = await execute(
    client,
    "select current_setting('server_encoding'), to_regnamespace($1) is not null, to_regclass($2) is not null",
    [quoted, `${quoted}.migration`],
  );
  if (encoding !== "UTF8") {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `the database has the encoding ${encoding}; Threadmark stores any text: create one with encoding 'UTF8'.`,
    );
  }
  if (present !== "t") await execute(client, `create schema ${quoted}`);
  if (migrated === "t") return;
  await execute(
    client,
    `create table ${quoted}.migration (number int4 primary key, applied_at timestamptz not null default now())`,
  );
}

/** Runs a statement, or several in one text without values. */
async function execute(client: ClientLike, text: string, values?: readonly unknown[]): Promise<readonly string[][]> {
  try {
    const types = { getTypeParser: () => String };
    const result = (await client.query({ text, values, rowMode: "array", types })) as
      | QueryResult
      | readonly QueryResult[];
    return (Array.isArray(result) ? [] : (result as QueryResult).rows) as string[][];
  } catch (cause) {
    throw notAnswered(cause);
  }
}

/** The first number of this library's advisory locks, which share one space with all other users of the database. */
const lockSpace = 0x74_6d_61_72;

function lockNumber(schema: string): number {
  return createHash("sha256").update(schema).digest().readInt32BE(0);
}
