import { createHash } from "node:crypto";
import { ThreadmarkError } from "../../../errors.ts";
import { isMissing, notAnswered } from "../connection/failure.ts";
import type { ClientLike, QueryResult } from "../connection/pool.ts";
import type { Server } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { quote } from "./layout.ts";
import { createTables } from "./migrations/0001-tables.ts";
import { createApply } from "./migrations/0002-apply.ts";
import { indexTapeNumbers } from "./migrations/0003-tape-numbers.ts";
import { createIndexAndLog } from "./migrations/0004-index-and-log.ts";

interface Target {
  /** The schema's name, quoted. */
  readonly schema: string;
  readonly partitions: number;
}

/** Append-only: a migration that ran is never changed, but followed by another. */
const migrations: readonly ((target: Target) => string)[] = [
  ({ schema, partitions }) => createTables(schema, partitions),
  ({ schema }) => createApply(schema),
  ({ schema }) => indexTapeNumbers(schema),
  ({ schema, partitions }) => createIndexAndLog(schema, partitions),
];

/** The layout that this version writes. */
export const latestLayout: number = migrations.length;

/**
 * Returns the schema's layout; 0 when there is none. Either way one value is read, so that a connection with unreadable
 * values is detected. The query has a parameter because values of an unnamed query without one always come as text.
 */
export async function readLayout(server: Server, schema: string): Promise<number> {
  const layout = `select coalesce(max(number), $1::int4) from ${quote(schema)}.migration`;
  try {
    return numberOf(await server.run(statement(layout), [0]));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return numberOf(await server.run(statement("select $1::int4"), [0]));
  }
}

function numberOf({ rows }: QueryResult): number {
  const [[number]] = rows as readonly [readonly [string]];
  return Number(number);
}

/** Fails with VERSION at the layout of a later version. */
export function refuseLaterLayout(layout: number, server: Server, schema: string): void {
  if (layout <= latestLayout) return;
  throw new ThreadmarkError(
    "VERSION",
    `${server.address}: the schema ${schema} has layout ${layout}, this version knows up to ${latestLayout}: ` +
      "update threadmark.",
  );
}

/**
 * Migrates the schema to the latest layout in one transaction. Of several simultaneous processes the first does it, and
 * the others wait for the lock and find it done.
 */
export async function migrate(server: Server, schema: string, partitions: number): Promise<void> {
  const target: Target = { schema: quote(schema), partitions };
  await server.with(async (client) => {
    await execute(client, "begin");
    try {
      // The next statement begins after the lock is held, so it sees the previous holder's changes.
      await execute(client, `select pg_advisory_xact_lock(${lockSpace}, ${lockNumber(schema)})`);
      await prepareSchema(client, schema, target);
      const layout = Number((await execute(client, `select max(number) from ${target.schema}.migration`))[0]?.[0] ?? 0);
      refuseLaterLayout(layout, server, schema);
      for (const [index, migration] of migrations.entries()) {
        if (index < layout) continue;
        await execute(client, migration(target));
        await execute(client, `insert into ${target.schema}.migration (number) values (${index + 1})`);
      }
      await execute(client, "commit");
    } catch (error) {
      await execute(client, "rollback").catch(() => {});
      throw error;
    }
  });
}

/**
 * Creates the schema only where it is missing: `create schema if not exists` needs the right to create schemas even
 * where there is nothing to create.
 */
async function prepareSchema(client: ClientLike, schema: string, target: Target): Promise<void> {
  const [[encoding, present, migrated] = []] = await execute(
    client,
    "select current_setting('server_encoding'), to_regnamespace($1) is not null, to_regclass($2) is not null",
    [target.schema, `${target.schema}.migration`],
  );
  if (encoding !== "UTF8") {
    throw new ThreadmarkError(
      "UNSUPPORTED",
      `the database has the encoding ${encoding}; Threadmark stores any text: create one with encoding 'UTF8'.`,
    );
  }
  if (present !== "t") await execute(client, `create schema ${quote(schema)}`);
  if (migrated === "t") return;
  await execute(
    client,
    `create table ${target.schema}.migration (number int4 primary key, applied_at timestamptz not null default now())`,
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
