import type { Backend } from "../../backend.ts";
import { PostgresBackend } from "./backend.ts";
import { Connections } from "./connections.ts";
import type { PoolLike } from "./pool.ts";
import { describeUrl, openPool } from "./pool.ts";
import { Server } from "./server.ts";

export type { ClientLike, PoolLike } from "./pool.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; everything `pg` takes in a url. */
  readonly url?: string;
  /** A `pg` Pool of yours; then the url is not used. It stays yours to end. */
  readonly pool?: PoolLike;
  /** The schema the tables are in. Default "threadmark". It is created at the first commit if it is not there. */
  readonly schema?: string;
  /** Hash partitions of every table, by lineage. Matters when the tables are created. Default 0: none. */
  readonly partitions?: number;
  /** Name prepared statements. Default true; false behind a transaction-pooling PgBouncer older than 1.21. */
  readonly prepare?: boolean;
  /** The most connections of the pool made from `url`. Default 10. */
  readonly connections?: number;
  /** Milliseconds to wait for a free connection, and for a server that went away to come back. Default 15,000. */
  readonly patience?: number;
  /**
   * What compacting does. "full" (the default) rewrites the tables: smallest, and nothing deleted stays in their files, but
   * each is locked meanwhile. "online" frees the room for new rows without keeping anyone out.
   */
  readonly compact?: "full" | "online";
  /** `normal`: the server acknowledges before it syncs. With a pool of yours that is yours to say. Default "full". */
  readonly fsync?: "full" | "normal";
  /** Refuse every change. */
  readonly readOnly?: boolean;
}

/**
 * A store in Postgres. Nothing is created before the first commit.
 *
 * @example
 * const store = await open(await postgres({ url: process.env.DATABASE_URL, schema: "agents" }));
 */
export async function postgres(options: string | PostgresOptions): Promise<Backend> {
  const settings = typeof options === "string" ? { url: options } : options;
  checkOptions(settings);
  const { url, pool, schema = "threadmark", partitions = 0, patience = 15_000 } = settings;
  const used = pool ?? (await openPool(url as string, { ...settings, patience }));
  const place = url === undefined ? "postgres" : describeUrl(url);
  const connections = new Connections(used, pool === undefined, patience);
  const server = new Server(connections, place, settings.prepare ?? true, patience);
  const backend = new PostgresBackend(server, {
    schema,
    partitions,
    readOnly: settings.readOnly ?? false,
    full: settings.compact !== "online",
    end: () => connections.end(),
  });
  try {
    await backend.begin();
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

function checkOptions({ url, pool, schema, partitions, patience, connections, compact }: PostgresOptions): void {
  if (url === undefined && pool === undefined) throw new TypeError("postgres: pass a `url` or a `pool`.");
  if (schema !== undefined && (schema === "" || Buffer.byteLength(schema) > 63 || schema.includes("\0"))) {
    throw new TypeError("postgres: `schema` is a name of 1 to 63 bytes.");
  }
  for (const [name, value, least] of [
    ["partitions", partitions, 0],
    ["patience", patience, 0],
    ["connections", connections, 1],
  ] as const) {
    if (value === undefined || (Number.isInteger(value) && value >= least)) continue;
    throw new TypeError(`postgres: \`${name}\` is a whole number, ${least} or greater.`);
  }
  if (compact !== undefined && compact !== "full" && compact !== "online") {
    throw new TypeError('postgres: `compact` is "full" or "online".');
  }
}
