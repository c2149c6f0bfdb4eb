import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll } from "vitest";
import type { PostgresOptions } from "../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "./database.ts";
import { createDatabase } from "./database.ts";

let database: Promise<TestDatabase> | undefined;
let pool: pg.Pool | undefined;

/** The database of this test file, made when a test first needs it. */
export function fileDatabase(): Promise<TestDatabase> {
  database ??= createDatabase();
  return database;
}

/** Connections of this test file that outlive its stores: a new one has to learn the tables and plan every statement. */
export async function filePool(): Promise<pg.Pool> {
  const { url } = await fileDatabase();
  pool ??= new pg.Pool({ connectionString: url, max: 8 });
  return pool;
}

afterAll(async () => {
  await pool?.end();
  await (await database)?.drop();
});

interface PostgresPlace {
  readonly url: string;
  readonly options: Record<string, unknown>;
  cleanup(): Promise<void>;
}

/** A schema that is not there yet. */
export async function makePostgres({ url: given, ...options }: PostgresOptions = {}): Promise<PostgresPlace> {
  const { url, query } = await fileDatabase();
  const schema = `place_${randomBytes(6).toString("hex")}`;
  return {
    url: given ?? url,
    // Cases of the kit give `schema` for the schema of states.
    options: { connections: 4, ...options, databaseSchema: schema },
    async cleanup() {
      for (const name of schemasOf(schema, options.shards)) await query(`drop schema if exists "${name}" cascade`);
    },
  };
}

/** Returns all schemas of a store: those of its shards, then its own. */
export function schemasOf(schema: string, shards = 0): readonly string[] {
  return [...Array.from({ length: shards }, (_, shard) => `${schema}_${shard}`), schema];
}

const tables = [
  ...["meta", "tail", "mark", "rows", "net", "steps", "id", "head", "write", "directory", "token"],
  ...["value", "mail", "entry", "log"],
];

/** Empties the tables of a store, if it has any. */
export async function emptySchemas(
  query: (text: string) => Promise<unknown>,
  schema: string,
  shards: number | undefined,
): Promise<void> {
  const names = shards === undefined ? [schema] : schemasOf(schema, shards).slice(0, -1);
  const rest = (name: string): string =>
    shards === undefined ? `delete from "${name}".log_cut` : `update "${name}".log_end set number = 0`;
  const texts = names.map((name) => [...tables.map((table) => `delete from "${name}".${table}`), rest(name)].join(";"));
  await query(texts.join(";"));
}

/**
 * Empty places that share one schema, one after the other: for hundreds of cases that are done sooner than tables are
 * created and dropped. Nothing may write there once a place is cleaned up.
 */
export function reusedPostgres(options: PostgresOptions = {}): () => Promise<PostgresPlace> {
  const free: PostgresPlace[] = [];
  return async () => {
    const place = free.pop() ?? (await makePostgres(options));
    return {
      ...place,
      async cleanup() {
        const kept = await filePool();
        const { databaseSchema: schema } = place.options;
        const { rows } = await kept.query(`select to_regclass('${schema}.migration') is not null as migrated`);
        if (rows[0].migrated) await emptySchemas((text) => kept.query(text), schema as string, options.shards);
        free.push(place);
      },
    };
  };
}
