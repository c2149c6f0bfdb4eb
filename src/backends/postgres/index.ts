import type { Answer, Backend, Batch, Capabilities, Read, Size, Table, Value } from "../../backend.ts";
import { ChangeRunner } from "./changes.ts";
import { Committer } from "./commit.ts";
import { Failure, isMissing, toError } from "./failure.ts";
import { quote } from "./layout.ts";
import { latestLayout, migrate, readLayout, refuseLaterLayout } from "./migrate.ts";
import type { PoolLike } from "./pool.ts";
import { describeUrl, openPool } from "./pool.ts";
import { answersOf, Reader } from "./read.ts";
import { Server } from "./server.ts";
import type { Step } from "./step.ts";
import { StepRunner } from "./step.ts";
import { inspect, measure, vacuum } from "./upkeep.ts";

export type { ClientLike, PoolLike } from "./pool.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; everything `pg` takes in a url. */
  readonly url?: string;
  /** A `pg` Pool of yours, instead of a url. It stays yours to end. */
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
}

/**
 * A store in Postgres. Nothing is created before the first commit.
 *
 * @example
 * const store = await open(await postgres({ url: process.env.DATABASE_URL, schema: "agents" }));
 */
export async function postgres(options: string | PostgresOptions): Promise<Backend> {
  const settings = typeof options === "string" ? { url: options } : options;
  const { url, pool, schema = "threadmark", partitions = 0, connections = 10, patience = 15_000 } = settings;
  if ((url === undefined) === (pool === undefined)) throw new TypeError("postgres: pass either `url` or `pool`.");
  if (schema === "" || Buffer.byteLength(schema) > 63) throw new TypeError("postgres: `schema` is 1 to 63 bytes long.");
  if (!Number.isInteger(partitions) || partitions < 0) throw new TypeError("postgres: `partitions` is a whole number.");
  const used = pool ?? (await openPool(url as string, connections, patience));
  const server = new Server(
    used,
    url === undefined ? "postgres" : describeUrl(url),
    settings.prepare ?? true,
    patience,
  );
  const backend = new PostgresBackend(server, schema, partitions, settings.compact !== "online", async () => {
    // Our own pool keeps its listener: connections that are being closed may still fail.
    if (pool === undefined) await used.end();
    else server.release();
  });
  try {
    await backend.begin();
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

class PostgresBackend implements Backend {
  readonly name = "postgres";
  readonly capabilities: Capabilities = { durable: true, processes: true };
  readonly #server: Server;
  readonly #schema: string;
  readonly #partitions: number;
  readonly #full: boolean;
  readonly #end: () => Promise<void>;
  readonly #reader: Reader;
  readonly #committer: Committer;
  /** Set once the tables are known to be there. */
  #migrated: Promise<void> | undefined;

  constructor(server: Server, schema: string, partitions: number, full: boolean, end: () => Promise<void>) {
    const quoted = quote(schema);
    this.#server = server;
    this.#schema = schema;
    this.#partitions = partitions;
    this.#full = full;
    this.#end = end;
    this.#reader = new Reader(quoted);
    this.#committer = new Committer(
      server,
      new StepRunner(server, quoted),
      new ChangeRunner(server, quoted),
      (step: Step) => this.#inserted(step),
    );
  }

  /** Finds out early whether the server can be reached and its layout is one we know. Creates nothing. */
  async begin(): Promise<void> {
    await this.#guard(async () => {
      const layout = await readLayout(this.#server, this.#schema);
      refuseLaterLayout(layout, this.#server, this.#schema);
      if (layout === latestLayout) this.#migrated = Promise.resolve();
    });
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    if (reads.length === 0) return [];
    return this.#guard(() => this.#server.persist(() => this.#read(reads)));
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    if (batches.length === 0) return [];
    try {
      await this.#migrate();
      return await this.#committer.commit(batches).catch(async (error: unknown) => {
        // The tables were dropped under us: what is left is an empty store.
        if (!isMissing(error) || (error as Failure).mayHaveApplied) throw error;
        this.#migrated = undefined;
        await this.#migrate();
        return this.#committer.commit(batches);
      });
    } catch (error) {
      throw toError(this.#server.place, error, error instanceof Failure && error.mayHaveApplied ? "unknown" : false);
    }
  }

  async size(): Promise<{ readonly tables: Readonly<Record<Table | "directory", Size>>; readonly total: number }> {
    return this.#guard(() => this.#server.persist(() => measure(this.#server, quote(this.#schema))));
  }

  async compact(): Promise<void> {
    await this.#guard(() => this.#server.persist(() => vacuum(this.#server, quote(this.#schema), this.#full)));
  }

  async verify(): Promise<readonly string[]> {
    return this.#guard(() => this.#server.persist(() => inspect(this.#server, quote(this.#schema))));
  }

  async close(): Promise<void> {
    await this.#end();
  }

  async #read(reads: readonly Read[]): Promise<readonly Answer[]> {
    const { statement, values } = this.#reader.statement(reads);
    try {
      const { rows } = await this.#server.run(statement, values);
      return answersOf(reads, rows);
    } catch (error) {
      if (isMissing(error)) return answersOf(reads, []);
      throw error;
    }
  }

  async #inserted({ insert }: Step): Promise<Value | undefined> {
    const [value] = await this.#read([{ get: insert.key }]);
    return value as Value | undefined;
  }

  /** A migration is whole or absent, so one whose answer was lost is simply run again. */
  #migrate(): Promise<void> {
    this.#migrated ??= this.#server
      .persist(() => migrate(this.#server, this.#schema, this.#partitions))
      .catch((error: unknown) => {
        this.#migrated = undefined;
        throw error instanceof Failure ? new Failure(error.cause, false, false, error.state) : error;
      });
    return this.#migrated;
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toError(this.#server.place, error);
    }
  }
}
