import type { Answer, Backend, Batch, Capabilities, Read, Size, Stored } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { answerEmpty } from "../shared/empty-answers.ts";
import { ServerFailure } from "../shared/failure.ts";
import { Hearers } from "../shared/hearers.ts";
import { toError } from "./connection/failure.ts";
import type { Servers } from "./connection/servers.ts";
import { Hearing } from "./hearing.ts";
import { type KeyLayout, mostTapes } from "./layout.ts";
import { LayoutRecord } from "./layout-record.ts";
import { answerReads } from "./reading/reads.ts";
import { serverFacts } from "./server-facts.ts";
import { measured, noSizes, rewriteFiles, tidy } from "./upkeep.ts";
import { BatchWriter } from "./writing/commit.ts";

interface Settings {
  readonly prefix: string;
  readonly connections: number;
  readonly replicas: number;
  readonly readOnly: boolean;
  readonly shards: number | undefined;
}

/** A store on one server, or on the masters of a cluster. */
export class RedisBackend implements Backend {
  readonly name = "redis";
  readonly capabilities: Capabilities;
  readonly #servers: Servers;
  readonly #settings: Settings;
  readonly #record: LayoutRecord;
  readonly #writer: BatchWriter;
  readonly #hearing: Hearing;
  readonly #hearers: Hearers;

  private constructor(servers: Servers, settings: Settings, durable: boolean) {
    this.#servers = servers;
    this.#settings = settings;
    this.capabilities = {
      durable,
      processes: true,
      distant: true,
      commitsAtOnce: settings.connections,
      tapes: mostTapes,
    };
    this.#record = new LayoutRecord(servers, settings.prefix, settings.shards);
    this.#writer = new BatchWriter(servers, settings.replicas);
    this.#hearing = new Hearing(servers, settings.prefix);
    this.#hearers = new Hearers((tell) => this.#hearing.listen(tell));
  }

  /** Connects, and refuses servers that cannot carry a store. */
  static async open(servers: Servers, settings: Settings): Promise<Backend> {
    try {
      let masters = await servers.masters();
      let facts = await Promise.all(masters.map((host) => serverFacts(servers, host)));
      const [first] = facts;
      if (servers.isCluster && first?.isCluster === false) {
        throw new ThreadmarkError(
          "UNSUPPORTED",
          `${servers.address}: the server is no part of a cluster. Leave ?cluster out and give one host, or turn cluster-enabled on.`,
        );
      }
      if (first?.isCluster && !servers.isCluster) {
        await servers.becomeCluster();
        masters = await servers.masters();
        facts = await Promise.all(masters.map((host) => serverFacts(servers, host)));
      }
      const backend = new RedisBackend(
        servers,
        settings,
        facts.every(({ appendOnly }) => appendOnly),
      );
      // Refuses a store of a later version now, not at the first read.
      await backend.#record.read();
      return backend;
    } catch (error) {
      servers.close();
      throw toError(servers.address, error);
    }
  }

  get interruptions(): number {
    return this.#servers.interruptions;
  }

  numberFor(id: string, number: number): number {
    return this.#record.known?.numberFor(id, number) ?? number;
  }

  read(reads: readonly Read[]): Promise<readonly Answer[]> {
    return this.#run(async () => {
      const layout = this.#record.known ?? (await this.#record.read());
      return layout === undefined
        ? reads.map(answerEmpty)
        : answerReads(this.#servers, this.#writer.locks, layout, reads);
    });
  }

  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    this.#refuseIfReadOnly();
    try {
      const layout = this.#record.known ?? (await this.#made());
      return await this.#writer.commit(layout, batches);
    } catch (error) {
      const isKnown = error instanceof ServerFailure && !error.mayHaveApplied;
      throw error instanceof TypeError ? error : toError(this.#servers.address, error, isKnown ? false : "unknown");
    } finally {
      this.#hearing.tell();
      this.#hearers.tell();
    }
  }

  hear(callback: () => void): () => void {
    return this.#hearers.hear(callback);
  }

  size(): Promise<{ tables: Readonly<Record<Stored, Size>>; total: undefined }> {
    return this.#run(async () => {
      const layout = await this.#record.read();
      const tables = layout ? (await measured(this.#servers, layout, this.#settings.prefix)).sizes : noSizes();
      return { tables, total: undefined };
    });
  }

  async compact(): Promise<void> {
    this.#refuseIfReadOnly();
    await this.#run(async () => {
      const layout = await this.#record.read();
      if (layout === undefined) return;
      await tidy(this.#servers, layout, this.#writer.locks);
      await rewriteFiles(this.#servers);
    });
  }

  verify(): Promise<readonly string[]> {
    return this.#run(async () => {
      const layout = await this.#record.read();
      const unknown = layout ? (await measured(this.#servers, layout, this.#settings.prefix)).unknown : 0;
      return unknown === 0 ? [] : [`${unknown} members of lineages are of no known table`];
    });
  }

  async close(): Promise<void> {
    this.#hearers.stop();
    await this.#hearing.close();
    this.#servers.close();
  }

  /** Makes the layout of a new store. A failure here comes before the commit. */
  async #made(): Promise<KeyLayout> {
    try {
      return await this.#record.make();
    } catch (error) {
      throw error instanceof ServerFailure ? new ServerFailure(error.cause, false, false, error.state) : error;
    }
  }

  #refuseIfReadOnly(): void {
    if (!this.#settings.readOnly) return;
    throw new ThreadmarkError(
      "READ_ONLY",
      `${this.#servers.address} was opened for reading only. Open it without readOnly.`,
      {
        committed: false,
      },
    );
  }

  async #run<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw toError(this.#servers.address, error);
    }
  }
}
