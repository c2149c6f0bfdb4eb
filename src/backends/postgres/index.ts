import type { Backend } from "../../backend.ts";
import { checkBackendOptions } from "../../model/validation/store/open.ts";
import { PostgresBackend } from "./backend.ts";
import { Connections } from "./connection/connections.ts";
import { toError } from "./connection/failure.ts";
import type { PoolLike } from "./connection/pool.ts";
import { describeUrl, openPool } from "./connection/pool.ts";
import { Server } from "./connection/server.ts";
import { findStore } from "./find-store.ts";
import { listenOn } from "./hearing/listen-on.ts";
import { checkSchemaName } from "./schema/schema-name.ts";

export type { ClientLike, PoolLike } from "./connection/pool.ts";

/** Options of `postgres`: `url` or `pool`, and what differs from the defaults. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; everything `pg` takes in a url. Needed without `pool`. No default. */
  readonly url?: string;
  /** Your own `pg` Pool, used instead of `url`. You end it yourself. Default: a pool made from `url`. */
  readonly pool?: PoolLike;
  /**
   * The schema of the tables. Default "threadmark". Created at the first commit if it does not exist. A name of 1 to 63
   * bytes without quotes, backslashes, dollar signs and invisible characters, which does not start with `pg_`.
   */
  readonly schema?: string;
  /** Names the schema of the tables where `schema` of `open` is that of the states. @default the value of `schema` */
  readonly databaseSchema?: string;
  /**
   * The number of hash partitions of every table, by lineage. Takes effect when the tables are created. Default 0:
   * none.
   */
  readonly partitions?: number;
  /**
   * The number of schemas that the store is spread over, 1 to 256: `agents_0`, `agents_1` and so on beside the schema `agents`, which
   * says how many there are. Fixed when the store is made, and then found there. Citus places such schemas on its nodes. Default:
   * none, the tables are in the schema itself.
   */
  readonly shards?: number;
  /**
   * Whether prepared statements have names. Default true; false behind a transaction-pooling PgBouncer older than 1.21.
   */
  readonly prepare?: boolean;
  /** The most connections of the pool made from `url`. Default 10. */
  readonly connections?: number;
  /**
   * Milliseconds to wait for a free connection, and for a server that starts or went away, also in `open`. Default
   * 15,000.
   */
  readonly patience?: number;
  /**
   * How `compact` works. "full" (the default) rewrites the tables: smallest, and no deleted record stays in their
   * files, but each table is locked meanwhile. "online" makes the space available for new rows without locking.
   */
  readonly compact?: "full" | "online";
  /**
   * "full" (the default): the server acknowledges a commit after syncing it, even where its `synchronous_commit` is
   * off. "normal": before, so that a crash of the server loses the latest commits.
   */
  readonly fsync?: "full" | "normal";
  /** Whether every change is refused with READ_ONLY. Default false. */
  readonly readOnly?: boolean;
}

/** The most partitions of each of the tables: with more, planning a statement takes longer than running it. */
const mostPartitions = 1024;

/** The most schemas of a store: every connection learns the tables of each. */
const mostShards = 256;

/** A timer with a longer delay fires at once. */
const mostMilliseconds = 2 ** 31 - 1;

/**
 * Opens a store in Postgres. Nothing is created before the first commit.
 *
 * @example
 * const store = await open(await postgres({ url: process.env.DATABASE_URL, schema: "agents" }));
 */
export async function postgres(options: string | PostgresOptions): Promise<Backend> {
  const settings = typeof options === "string" ? { url: options } : options;
  checkBackendOptions(settings, "postgres", ["url"]);
  checkOptions(settings);
  const {
    url,
    pool,
    databaseSchema,
    schema = databaseSchema ?? "threadmark",
    partitions = 0,
    patience = 15_000,
  } = settings;
  const used = pool ?? (await openPool(url as string, { ...settings, patience }));
  const address = url === undefined ? "postgres" : describeUrl(url);
  const connections = new Connections(used, pool === undefined, patience);
  const server = (synced: boolean): Server =>
    new Server(connections, address, settings.prepare ?? true, patience, synced);
  try {
    const store = await findStore(server(false), schema, settings.shards);
    return new PostgresBackend(server(store.shards !== undefined), {
      ...store,
      schema,
      partitions,
      readOnly: settings.readOnly ?? false,
      full: settings.compact !== "online",
      fsync: settings.fsync ?? "full",
      end: () => connections.end(),
      listen: (channel, tell) => listenOn(channel, tell, { ...settings, patience }),
    });
  } catch (error) {
    await connections.end();
    throw toError(address, error);
  }
}

function checkOptions({ url, pool, fsync, compact, ...others }: PostgresOptions): void {
  const { schema, databaseSchema, shards, partitions } = others;
  if (url === undefined && pool === undefined) throw new TypeError("postgres: pass a `url` or a `pool`.");
  for (const name of [schema, databaseSchema]) if (name !== undefined) checkSchemaName(name);
  if (schema !== undefined && databaseSchema !== undefined) {
    throw new TypeError("postgres: give `schema` or `databaseSchema`, not both.");
  }
  for (const [name, least, most] of [
    ["partitions", 0, mostPartitions],
    ["patience", 0, mostMilliseconds],
    ["connections", 1, Number.MAX_SAFE_INTEGER],
    ["shards", 1, mostShards],
  ] as const) {
    const value = others[name];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new TypeError(`postgres: \`${name}\` is a whole number from ${least} to ${most}.`);
  }
  if (shards !== undefined) {
    if (partitions) throw new TypeError("postgres: give `shards` or `partitions`, not both.");
    if (fsync === "normal") {
      throw new TypeError("postgres: `fsync` is not for `shards`. Set synchronous_commit of the role or the server.");
    }
    checkSchemaName(schema ?? databaseSchema ?? "threadmark", `_${mostShards}`.length);
  }
  if (fsync !== undefined && fsync !== "full" && fsync !== "normal") {
    throw new TypeError('postgres: `fsync` is "full" or "normal".');
  }
  if (compact !== undefined && compact !== "full" && compact !== "online") {
    throw new TypeError('postgres: `compact` is "full" or "online".');
  }
}
