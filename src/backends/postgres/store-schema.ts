import type { Batch, Read, Value } from "../../backend.ts";
import { commitAs } from "./connection/durability.ts";
import { isMissing } from "./connection/failure.ts";
import type { RunStatement, Server, Statement } from "./connection/server.ts";
import type { Notices } from "./hearing/notices.ts";
import { answersOf, isOfLaterLayout, Reader, type SchemaAnswer } from "./reading/read-statement.ts";
import { type NamedSchema, quote } from "./schema/layout.ts";
import { ChangingBatchRunner } from "./writing/changing-batch.ts";
import { BatchWriter, type Inserting } from "./writing/commit.ts";
import { type GenericBatch, GenericBatchRunner } from "./writing/generic-batch.ts";
import type { SimpleBatch } from "./writing/simple-batch.ts";
import { SimpleBatchRunner } from "./writing/simple-batch-runner.ts";

/** A schema with the tables of a store, or of one of its shards. */
export class StoreSchema {
  readonly name: string;
  readonly isShard: boolean;
  readonly #server: Server;
  readonly #reader: Reader;
  readonly #writer: BatchWriter;
  readonly #simple: SimpleBatchRunner;
  readonly #runner: GenericBatchRunner;

  private constructor(server: Server, name: string, named: NamedSchema, notices: Notices | undefined) {
    this.name = name;
    this.isShard = named.place !== undefined;
    this.#server = server;
    this.#reader = new Reader(named.schema, this.isShard);
    this.#runner = new GenericBatchRunner(server, named, notices);
    this.#simple = new SimpleBatchRunner(server, named);
    const changing = notices && new ChangingBatchRunner(server, named, notices);
    this.#writer = new BatchWriter(server, this.#simple, changing, this.#runner, (batch) => this.#inserted(batch));
  }

  /** Returns the only schema of a store. */
  static whole(server: Server, name: string, fsync: "full" | "normal", notices: Notices): StoreSchema {
    return new StoreSchema(server, name, { schema: quote(name), durable: commitAs(fsync) }, notices);
  }

  /** Returns a schema that is one of a store's shards. */
  static shard(server: Server, name: string): StoreSchema {
    return new StoreSchema(server, name, { schema: quote(name), place: `${quote(name)}.place` }, undefined);
  }

  /** Answers reads from one snapshot. A table that is missing is empty. */
  async read(reads: readonly Read[]): Promise<readonly SchemaAnswer[]> {
    const { statement, values } = this.#reader.statement(reads);
    try {
      const { rows } = await this.#server.run(statement, values);
      return answersOf(reads, rows, this.isShard);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The layout of an earlier version, which only a commit changes, lacks some tables.
      const known = reads.filter((read) => !isOfLaterLayout(read));
      if (known.length === 0 || known.length === reads.length) return answersOf(reads, [], this.isShard);
      const answers = await this.read(known);
      return reads.map((read) => {
        const index = known.indexOf(read);
        return index < 0 ? answersOf([read], [], this.isShard)[0] : answers[index];
      });
    }
  }

  /** Commits batches. Rejects with a Failure that tells whether anything may have been applied, by `tried` attempts before too. */
  commit(batches: readonly Batch[], tried = false): Promise<readonly boolean[]> {
    return this.#writer.commit(batches, tried);
  }

  /** Runs simple batches of one record each in a transaction with others: see {@link SimpleBatchRunner.runIn}. */
  runIn(run: RunStatement, batches: readonly SimpleBatch[]): Promise<readonly boolean[]> {
    return this.#simple.runIn(run, batches);
  }

  /** Returns the statement that applies batches, to be run in a transaction with others. */
  call(batches: readonly GenericBatch[]): { readonly statement: Statement; readonly values: readonly unknown[] } {
    return this.#runner.call(batches);
  }

  /** Returns the current records of a simple batch: the inserted one, then those beside it. */
  async #inserted({ insert, beside }: Inserting): Promise<readonly (Value | undefined)[]> {
    const answers = await this.read([insert, ...beside].map(({ key }) => ({ get: key })));
    return answers as readonly (Value | undefined)[];
  }
}
