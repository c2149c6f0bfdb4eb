import type { Batch, Value } from "../../../backend.ts";
import { isDoubtful, withDoubtfulCheck } from "../../shared/doubtful-batches.ts";
import { isSameValue } from "../../shared/same-value.ts";
import { isTaken, toError } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import type { ChangingBatch, ChangingBatchRunner } from "./changing-batch.ts";
import { changingBatchOf } from "./changing-batch.ts";
import type { GenericBatch, GenericBatchRunner } from "./generic-batch.ts";
import { genericBatchOf } from "./generic-batch.ts";
import { lengthOf } from "./message-size.ts";
import { inTurn, type Portion, runPortions } from "./portions.ts";
import type { SimpleBatch, StatementForm } from "./simple-batch.ts";
import { simpleBatchOf } from "./simple-batch.ts";
import type { SimpleBatchRunner } from "./simple-batch-runner.ts";
import { splitOverConnections } from "./split-statements.ts";

interface Indexed<T> {
  readonly index: number;
  /** The length of its values; 0 in a commit of one batch, which is not split. */
  readonly length: number;
  readonly of: T;
}

/** The rows that a batch inserts, by which a lost answer is found. */
export type Inserting = Pick<SimpleBatch, "insert" | "beside">;

/**
 * Commits batches: simple ones (a check and inserts) and a single changing one by plain statements, the others by the function
 * `apply`. A commit
 * of one batch is one statement; a large commit is spread over a few connections, since its batches are independent.
 *
 * Lost answers. A statement whose connection broke may have been applied. It is repeated, and the outcome is found so:
 * - a batch run by `apply` carries a token that the first attempt, if applied, has left in the table `token`;
 * - the repeated simple or changing batch is refused by the row that the first attempt inserted. If that row and those beside it
 *   hold the values of this batch, they are this batch's own: a checkpoint's row names the store that put it, and all
 *   writes beside it are there. If the row holds another value, the batch was refused. If there is no row, the check
 *   failed or a row beside it was taken, and whether the row came and went before that is unknown; the outcome is also
 *   unknown where a row beside it differs.
 */
export class BatchWriter {
  readonly #server: Server;
  readonly #simpleRunner: SimpleBatchRunner;
  /** Absent in a shard, as are simple batches with rows beside theirs: Citus does not run two changes in one statement. */
  readonly #changingRunner: ChangingBatchRunner | undefined;
  readonly #genericRunner: GenericBatchRunner;
  readonly #read: (batch: Inserting) => Promise<readonly (Value | undefined)[]>;

  constructor(
    server: Server,
    simpleRunner: SimpleBatchRunner,
    changingRunner: ChangingBatchRunner | undefined,
    genericRunner: GenericBatchRunner,
    read: (batch: Inserting) => Promise<readonly (Value | undefined)[]>,
  ) {
    this.#server = server;
    this.#simpleRunner = simpleRunner;
    this.#changingRunner = changingRunner;
    this.#genericRunner = genericRunner;
    this.#read = read;
  }

  /**
   * Commits the batches. Rejects with a {@link Failure} that tells whether anything may have been applied. `tried`: simple batches
   * may have been applied by an attempt before this call.
   */
  async commit(batches: readonly Batch[], tried: boolean): Promise<readonly boolean[]> {
    const changing = this.#changing(batches);
    if (changing !== undefined) return this.#runChanging(changing.runner, changing.batch);
    const portions = this.#portions(batches, tried);
    const [only] = portions;
    // The common case. With several batches, even a single portion has an order of its own.
    if (only !== undefined && batches.length === 1) return only.run();
    return runPortions(portions, batches.length);
  }

  /** Returns the only batch of a commit as a changing batch, if it is one. Several are run together by `apply`. */
  #changing(batches: readonly Batch[]): { runner: ChangingBatchRunner; batch: ChangingBatch } | undefined {
    const [batch] = batches as readonly [Batch];
    const runner = this.#changingRunner;
    if (runner === undefined || batches.length > 1 || isDoubtful(batch, this.#server.interruptions)) return undefined;
    const changing = changingBatchOf(batch);
    return changing && runner.takes(changing) ? { runner, batch: changing } : undefined;
  }

  #runChanging(runner: ChangingBatchRunner, batch: ChangingBatch): Promise<readonly boolean[]> {
    return this.#server.persist(async (mayHaveApplied) => {
      const [applied = false] = isDoubtful(batch.original, this.#server.interruptions)
        ? await this.#runGeneric([genericBatchOf(batch.original)])
        : [await runner.run(batch)];
      return [applied || (mayHaveApplied && (await this.#wasApplied(batch)))];
    });
  }

  /** Groups the batches into portions. Empty batches are in none: there is nothing to run. */
  #portions(batches: readonly Batch[], tried: boolean): readonly Portion[] {
    const simple = new Map<StatementForm, Indexed<SimpleBatch>[]>();
    const generic: Indexed<GenericBatch>[] = [];
    for (const [index, batch] of batches.entries()) {
      const found = simpleBatchOf(batch);
      const one = this.#changingRunner !== undefined || found?.beside.length === 0 ? found : undefined;
      // Computed before anything is sent: if a batch is too large for any message, none was applied.
      const length = batches.length === 1 ? 0 : lengthOf(batch);
      if (one !== undefined) {
        const group = simple.get(one.form);
        if (group === undefined) simple.set(one.form, [{ index, length, of: one }]);
        else group.push({ index, length, of: one });
      } else if (!isEmpty(batch)) generic.push({ index, length, of: genericBatchOf(batch) });
    }
    const portions: Portion[] = [];
    for (const group of simple.values()) {
      portions.push(...portionsOf(group.sort(inLockOrder), (part) => this.#runSimple(part, tried)));
    }
    portions.push(...portionsOf(generic, (part) => this.#runGeneric(part)));
    return portions;
  }

  #runSimple(batches: readonly SimpleBatch[], tried: boolean): Promise<readonly boolean[]> {
    return this.#server.persist(async (again) => {
      const mayHaveApplied = again || tried;
      const applied = batches.some(({ original }) => isDoubtful(original, this.#server.interruptions))
        ? await this.#runGeneric(batches.map(({ original }) => genericBatchOf(original)))
        : await this.#simpleRunner.run(batches);
      if (!mayHaveApplied || !applied.includes(false)) return applied;
      return Promise.all(applied.map((one, index) => one || this.#wasApplied(batches[index] as SimpleBatch)));
    });
  }

  async #wasApplied(batch: Inserting): Promise<boolean> {
    const [found, ...beside] = await this.#read(batch);
    if (found !== undefined && !isSameValue(found, batch.insert.value)) return false;
    if (found !== undefined && batch.beside.every(({ value }, index) => isSameValue(beside[index], value))) return true;
    const fault = "the answer to a commit was lost, and a record of it is gone or another's";
    throw toError(this.#server.address, new Error(fault), "unknown");
  }

  /**
   * Runs batches by `apply`. A key that another transaction inserts meanwhile fails the whole statement; then each
   * batch is run by itself.
   */
  async #runGeneric(batches: readonly GenericBatch[]): Promise<readonly boolean[]> {
    try {
      // After a reconnect the server may lack records that the previous server had.
      return await this.#server.persist(() => {
        const { interruptions } = this.#server;
        return this.#genericRunner.run(
          batches.map(({ batch, token }) => ({ batch: withDoubtfulCheck(batch, interruptions), token })),
        );
      });
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (batches.length === 1) return [false];
      return inTurn(
        batches.map((batch) => [batch]),
        (part) => this.#runGeneric(part),
      );
    }
  }
}

function* portionsOf<T>(
  list: readonly Indexed<T>[],
  run: (part: readonly T[]) => Promise<readonly boolean[]>,
): Generator<Portion> {
  for (const sequence of splitOverConnections(list)) {
    const parts = sequence.map((part) => part.map(({ of }) => of));
    const [only = []] = parts;
    const indexes = sequence.flatMap((part) => part.map(({ index }) => index));
    yield { indexes, run: () => (parts.length === 1 ? run(only) : inTurn(parts, run)) };
  }
}

/**
 * Orders batches by lineage and group, so that statements lock the same records in the same order and never deadlock.
 */
function inLockOrder({ of: a }: Indexed<SimpleBatch>, { of: b }: Indexed<SimpleBatch>): number {
  return a.insert.key.lineage - b.insert.key.lineage || a.insert.key.group - b.insert.key.group;
}

function isEmpty({ checks, deletes, inserts, puts, entries, log }: Batch): boolean {
  return [checks, deletes, inserts, puts, entries?.remove, entries?.add, log?.lines].every(
    (list) => list === undefined || list.length === 0,
  );
}
