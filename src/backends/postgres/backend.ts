import type { Answer, Backend, Batch, Capabilities, Read, Sizes, Value } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Hearers } from "../shared/hearers.ts";
import { commitAs } from "./connection/durability.ts";
import { Failure, isMissing, toError } from "./connection/failure.ts";
import type { Server } from "./connection/server.ts";
import { channelOf } from "./hearing/channel.ts";
import { Notices } from "./hearing/notices.ts";
import { answersOf, isOfLaterLayout, Reader } from "./reading/read-statement.ts";
import { quote } from "./schema/layout.ts";
import { latestLayout, migrate, readLayout, refuseLaterLayout } from "./schema/migrate.ts";
import { inspect, measure, measureTotal, vacuum, vacuumOnline } from "./upkeep.ts";
import { ChangingBatchRunner } from "./writing/changing-batch.ts";
import { Committer, type Inserting } from "./writing/commit.ts";
import { GenericBatchRunner } from "./writing/generic-batch.ts";
import { SimpleBatchRunner } from "./writing/simple-batch-runner.ts";

interface Settings {
  readonly schema: string;
  readonly partitions: number;
  readonly readOnly: boolean;
  readonly full: boolean;
  readonly fsync: "full" | "normal";
  /** Releases the connections of a pool that this backend opened. */
  end(): Promise<void>;
  /** Calls back when others may have committed, until the returned function is called. */
  listen(channel: string, tell: () => void): () => void;
}

/** Implements the contract on one schema of one server. */
export class PostgresBackend implements Backend {
  readonly name = "postgres";
  readonly capabilities: Capabilities = { durable: true, processes: true, commitsAtOnce: 4, distant: true };
  readonly #server: Server;
  readonly #settings: Settings;
  readonly #reader: Reader;
  readonly #committer: Committer;
  readonly #hearers: Hearers;
  #migrated: Promise<void> | undefined;
  /** Whether the tables are known to exist. */
  #ready = false;

  constructor(server: Server, settings: Settings) {
    const schema = quote(settings.schema);
    const durable = commitAs(settings.fsync);
    this.#server = server;
    this.#settings = settings;
    this.#reader = new Reader(schema);
    const channel = channelOf(settings.schema);
    this.#hearers = new Hearers((tell) => settings.listen(channel, tell));
    const notices = new Notices(channel);
    this.#committer = new Committer(
      server,
      new SimpleBatchRunner(server, schema, durable),
      new ChangingBatchRunner(server, schema, durable, notices),
      new GenericBatchRunner(server, schema, durable, notices),
      (batch) => this.#inserted(batch),
    );
  }

  get interruptions(): number {
    return this.#server.interruptions;
  }

  /**
   * Checks early that the server can be reached, that its sessions are fit for use, and that its layout is known. Waits
   * for a server that is starting. Creates nothing.
   */
  async begin(): Promise<void> {
    await this.#guard(async () => {
      const layout = await this.#server.persist(() => readLayout(this.#server, this.#settings.schema));
      refuseLaterLayout(layout, this.#server, this.#settings.schema);
      this.#ready = layout === latestLayout;
    });
  }

  async read(reads: readonly Read[]): Promise<readonly Answer[]> {
    if (reads.length === 0) return [];
    return this.#guard(() => this.#server.persist(() => this.#read(reads)));
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    if (batches.length === 0) return [];
    this.#refuseIfReadOnly();
    const applied = await this.#commit(batches);
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
      return await this.#committer.commit(batches).catch(async (error: unknown) => {
        // The tables were dropped meanwhile, so the store is empty.
        if (!isMissing(error) || (error as Failure).mayHaveApplied) throw error;
        this.#ready = false;
        await this.#migrate();
        return this.#committer.commit(batches);
      });
    } catch (error) {
      throw toError(this.#server.address, error, error instanceof Failure && error.mayHaveApplied ? "unknown" : false);
    }
  }

  async size(): Promise<Sizes> {
    return this.#guard(() => this.#server.persist(() => measure(this.#server, quote(this.#settings.schema))));
  }

  async total(): Promise<Omit<Sizes, "tables">> {
    return this.#guard(() => this.#server.persist(() => measureTotal(this.#server, quote(this.#settings.schema))));
  }

  async compact(): Promise<void> {
    this.#refuseIfReadOnly();
    await this.#guard(() =>
      this.#server.persist(() => vacuum(this.#server, quote(this.#settings.schema), this.#settings.full)),
    );
  }

  async reclaim(lineages: readonly number[]): Promise<boolean> {
    this.#refuseIfReadOnly();
    // The server reuses the room at once. Its own vacuum frees the room while a sweep goes on, and this one at the end.
    if (lineages.length > 0) return false;
    await this.#guard(() => this.#server.persist(() => vacuumOnline(this.#server, quote(this.#settings.schema))));
    return false;
  }

  async verify(): Promise<readonly string[]> {
    return this.#guard(() => this.#server.persist(() => inspect(this.#server, quote(this.#settings.schema))));
  }

  async close(): Promise<void> {
    this.#hearers.stop();
    await this.#settings.end();
  }

  async #read(reads: readonly Read[]): Promise<readonly Answer[]> {
    const { statement, values } = this.#reader.statement(reads);
    try {
      const { rows } = await this.#server.run(statement, values);
      return answersOf(reads, rows);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The layout of an earlier version, which only a commit changes, lacks some tables.
      const known = reads.filter((read) => !isOfLaterLayout(read));
      if (known.length === 0 || known.length === reads.length) return answersOf(reads, []);
      const answers = await this.#read(known);
      return reads.map((read) => {
        const index = known.indexOf(read);
        return index < 0 ? answersOf([read], [])[0] : answers[index];
      });
    }
  }

  /** Returns the current records of a simple batch: the inserted one, then those beside it. */
  async #inserted({ insert, beside }: Inserting): Promise<readonly (Value | undefined)[]> {
    const answers = await this.#read([insert, ...beside].map(({ key }) => ({ get: key })));
    return answers as readonly (Value | undefined)[];
  }

  /** Migrates the schema. A migration is whole or absent, so it is simply repeated when its answer was lost. */
  #migrate(): Promise<void> {
    this.#migrated ??= this.#server
      .persist(() => migrate(this.#server, this.#settings.schema, this.#settings.partitions))
      .then(
        () => {
          this.#ready = true;
        },
        (error: unknown) => {
          throw error instanceof Failure ? new Failure(error.cause, false, false, error.state) : error;
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
