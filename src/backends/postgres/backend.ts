import type { Answer, Backend, Batch, Capabilities, Read, Sizes } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { ServerFailure } from "../shared/failure.ts";
import { Hearers } from "../shared/hearers.ts";
import { isMissing, toError } from "./connection/failure.ts";
import type { Server } from "./connection/server.ts";
import { statement } from "./connection/server.ts";
import { channelOf } from "./hearing/channel.ts";
import { Notices } from "./hearing/notices.ts";
import { quote } from "./schema/layout.ts";
import { migrate, wholeStore } from "./schema/migrate.ts";
import { Placement } from "./shards/placement.ts";
import { migrateShards, shardNames } from "./shards/record.ts";
import { ShardedWriter } from "./shards/sharded-commit.ts";
import { readShards } from "./shards/sharded-reads.ts";
import { measureShards, measureShardsTotal } from "./shards/sharded-upkeep.ts";
import { StoreSchema } from "./store-schema.ts";
import { inspect, measure, measureTotal, vacuum, vacuumOnline } from "./upkeep.ts";

interface Settings {
  readonly schema: string;
  readonly partitions: number;
  readonly readOnly: boolean;
  readonly full: boolean;
  readonly fsync: "full" | "normal";
  /** The number of schemas that the store is spread over; undefined for a store in the schema itself. */
  readonly shards: number | undefined;
  /** Whether the database has the extension Citus: its nodes commit by themselves, and a transaction over several in two phases. */
  readonly hasCitus: boolean;
  /** Numbers of tapes and lineages are below this. */
  readonly tapes: number;
  /** Whether the tables are known to exist. */
  readonly ready: boolean;
  /** Releases the connections of a pool that this backend opened. */
  end(): Promise<void>;
  /** Calls back when others may have committed, until the returned function is called. */
  listen(channel: string, tell: () => void): () => void;
}

const notify = statement("select pg_notify($1::text, '')");

/** Implements the contract on one schema of one server, or on several that are the shards of a store. */
export class PostgresBackend implements Backend {
  readonly name = "postgres";
  readonly capabilities: Capabilities;
  readonly numberFor?: NonNullable<Backend["numberFor"]>;
  readonly #server: Server;
  readonly #settings: Settings;
  /** The schema of the store, or those of its shards. */
  readonly #schemas: readonly StoreSchema[];
  readonly #placement: Placement | undefined;
  readonly #commitBatches: (batches: readonly Batch[]) => Promise<readonly boolean[]>;
  readonly #channel: string;
  readonly #notices: Notices;
  readonly #hearers: Hearers;
  #migrated: Promise<void> | undefined;
  #ready: boolean;
  /** The last notice that was sent behind its commit. */
  #notified: Promise<unknown> = Promise.resolve();

  constructor(server: Server, settings: Settings) {
    const { schema, shards, fsync, tapes } = settings;
    this.capabilities = { durable: true, processes: true, commitsAtOnce: 4, distant: true, tapes };
    this.#server = server;
    this.#settings = settings;
    this.#ready = settings.ready;
    this.#channel = channelOf(schema);
    this.#notices = new Notices(this.#channel);
    this.#hearers = new Hearers((tell) => settings.listen(this.#channel, tell));
    if (shards === undefined) {
      const whole = StoreSchema.whole(server, schema, fsync, this.#notices);
      this.#schemas = [whole];
      this.#commitBatches = (batches) => whole.commit(batches);
    } else {
      const placement = new Placement(shards);
      this.#placement = placement;
      this.#schemas = shardNames(schema, shards).map((name) => StoreSchema.shard(server, name));
      const writer = new ShardedWriter(server, placement, this.#schemas, !settings.hasCitus);
      this.#commitBatches = (batches) => writer.commit(batches);
      this.numberFor = (id, number) => placement.numberFor(id, number);
    }
  }

  get interruptions(): number {
    return this.#server.interruptions;
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    if (reads.length === 0) return [];
    return this.#guard(() => this.#server.persist(() => this.#read(reads)));
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    if (batches.length === 0) return [];
    this.#refuseIfReadOnly();
    const applied = await this.#commit(batches);
    if (this.#placement && batches.some(({ log }, index) => log !== undefined && applied[index])) this.#notify();
    this.#hearers.tell();
    return applied;
  }

  hear(callback: () => void): () => void {
    return this.#hearers.hear(callback);
  }

  async #commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    try {
      // Awaits nothing where possible: the sooner the server has work, the better.
      if (!this.#ready) await this.#migrate();
      return await this.#commitBatches(batches).catch(async (error: unknown) => {
        // The tables were dropped meanwhile, so the store is empty.
        if (!isMissing(error) || (error as ServerFailure).mayHaveApplied) throw error;
        this.#ready = false;
        await this.#migrate();
        return this.#commitBatches(batches);
      });
    } catch (error) {
      throw toError(
        this.#server.address,
        error,
        error instanceof ServerFailure && error.mayHaveApplied ? "unknown" : false,
      );
    }
  }

  async size(): Promise<Sizes> {
    const names = this.#schemas.map(({ name }) => name);
    return this.#guard(() =>
      this.#server.persist(() =>
        this.#placement ? measureShards(this.#server, names) : measure(this.#server, quote(this.#settings.schema)),
      ),
    );
  }

  async total(): Promise<Omit<Sizes, "tables">> {
    const names = this.#schemas.map(({ name }) => name);
    return this.#guard(() =>
      this.#server.persist(() =>
        this.#placement
          ? measureShardsTotal(this.#server, names)
          : measureTotal(this.#server, quote(this.#settings.schema)),
      ),
    );
  }

  async compact(): Promise<void> {
    this.#refuseIfReadOnly();
    await this.#eachSchema((schema) => vacuum(this.#server, schema, this.#settings.full));
  }

  async reclaim(lineages: readonly number[]): Promise<boolean> {
    this.#refuseIfReadOnly();
    // The server reuses the room at once. Its own vacuum frees the room while a sweep goes on, and this one at the end.
    if (lineages.length > 0) return false;
    await this.#eachSchema((schema) => vacuumOnline(this.#server, schema));
    return false;
  }

  async verify(): Promise<readonly string[]> {
    const faults: string[] = [];
    await this.#eachSchema(async (schema) => {
      faults.push(...(await inspect(this.#server, schema)));
    });
    return faults;
  }

  async close(): Promise<void> {
    this.#hearers.stop();
    await this.#notified;
    await this.#settings.end();
  }

  async #read(reads: readonly Read[]): Promise<readonly Answer[]> {
    if (this.#placement) {
      return readShards(this.#placement, reads, (shard, own) => (this.#schemas[shard] as StoreSchema).read(own));
    }
    return (await (this.#schemas[0] as StoreSchema).read(reads)) as readonly Answer[];
  }

  /** Runs upkeep on one schema after the other. */
  async #eachSchema(work: (schema: string) => Promise<void>): Promise<void> {
    for (const { name } of this.#schemas) {
      await this.#guard(() => this.#server.persist(() => work(quote(name))));
    }
  }

  /** Tells listeners of commits. A notice that is lost costs them a moment: they also look by themselves. */
  #notify(): void {
    if (this.#notices.due() === undefined) return;
    this.#notices.sent();
    this.#notified = this.#server.run(notify, [this.#channel]).catch(() => {});
  }

  /** Migrates the schemas. A migration is whole or absent, so it is simply repeated when its answer was lost. */
  #migrate(): Promise<void> {
    const { schema, shards, partitions } = this.#settings;
    this.#migrated ??= this.#server
      .persist(() =>
        shards === undefined
          ? migrate(this.#server, schema, wholeStore, partitions)
          : migrateShards(this.#server, schema, shards),
      )
      .then(
        () => {
          this.#ready = true;
        },
        (error: unknown) => {
          throw error instanceof ServerFailure ? new ServerFailure(error.cause, false, false, error.state) : error;
        },
      )
      .finally(() => {
        this.#migrated = undefined;
      });
    return this.#migrated;
  }

  #refuseIfReadOnly(): void {
    if (!this.#settings.readOnly) return;
    throw new ThreadmarkError(
      "READ_ONLY",
      `${this.#server.address} was opened with readOnly. Open it without to change it.`,
      { committed: false },
    );
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toError(this.#server.address, error);
    }
  }
}
