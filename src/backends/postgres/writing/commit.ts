import type { Batch, Value } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { isDoubtful, withDoubtfulCheck } from "../../shared/doubtful-batches.ts";
import { isSameValue } from "../../shared/same-value.ts";
import { Failure, isTaken, toError } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import type { ChangingBatch, ChangingBatchRunner } from "./changing-batch.ts";
import { changingBatchOf } from "./changing-batch.ts";
import type { GenericBatch, GenericBatchRunner } from "./generic-batch.ts";
import { genericBatchOf } from "./generic-batch.ts";
import { lengthOf } from "./message-size.ts";
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

/** A part of a commit that uses one connection, nearly always with one statement. */
interface Portion {
  /** The batches' indexes in the commit. */
  readonly indexes: readonly number[];
  run(): Promise<readonly boolean[]>;
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
export class Committer {
  readonly #server: Server;
  readonly #simpleRunner: SimpleBatchRunner;
  readonly #changingRunner: ChangingBatchRunner;
  readonly #genericRunner: GenericBatchRunner;
  readonly #read: (batch: Inserting) => Promise<readonly (Value | undefined)[]>;

  constructor(
    server: Server,
    simpleRunner: SimpleBatchRunner,
    changingRunner: ChangingBatchRunner,
    genericRunner: GenericBatchRunner,
    read: (batch: Inserting) => Promise<readonly (Value | undefined)[]>,
  ) {
    this.#server = server;
    this.#simpleRunner = simpleRunner;
    this.#changingRunner = changingRunner;
    this.#genericRunner = genericRunner;
    this.#read = read;
  }

  /** Commits the batches. Rejects with a {@link Failure} that tells whether anything may have been applied. */
  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const changing = this.#changing(batches);
    if (changing !== undefined) return this.#runChanging(changing);
    const portions = this.#portions(batches);
    const [only] = portions;
    // The common case. With several batches, even a single portion has an order of its own.
    if (only !== undefined && batches.length === 1) return only.run();
    const applied = batches.map(() => true);
    const outcomes = await Promise.allSettled(portions.map((portion) => portion.run()));
    const failures: Failure[] = [];
    let some = false;
    for (const [number, outcome] of outcomes.entries()) {
      if (outcome.status === "rejected") failures.push(asFailure(outcome.reason));
      else {
        some ||= outcome.value.includes(true);
        for (const [at, index] of (portions[number] as Portion).indexes.entries()) {
          applied[index] = outcome.value[at] as boolean;
        }
      }
    }
    const [failure] = failures;
    if (failure === undefined) return applied;
    throw new Failure(failure.cause, some || failures.some((one) => one.mayHaveApplied), false, failure.state);
  }

  /** Returns the only batch of a commit as a changing batch, if it is one. Several are run together by `apply`. */
  #changing(batches: readonly Batch[]): ChangingBatch | undefined {
    const [batch] = batches as readonly [Batch];
    if (batches.length > 1 || isDoubtful(batch, this.#server.interruptions)) return undefined;
    const changing = changingBatchOf(batch);
    return changing && this.#changingRunner.takes(changing) ? changing : undefined;
  }

  #runChanging(batch: ChangingBatch): Promise<readonly boolean[]> {
    return this.#server.persist(async (mayHaveApplied) => {
      const [applied = false] = isDoubtful(batch.original, this.#server.interruptions)
        ? await this.#runGeneric([genericBatchOf(batch.original)])
        : [await this.#changingRunner.run(batch)];
      return [applied || (mayHaveApplied && (await this.#wasApplied(batch)))];
    });
  }

  /** Groups the batches into portions. Empty batches are in none: there is nothing to run. */
  #portions(batches: readonly Batch[]): readonly Portion[] {
    const simple = new Map<StatementForm, Indexed<SimpleBatch>[]>();
    const generic: Indexed<GenericBatch>[] = [];
    for (const [index, batch] of batches.entries()) {
      const one = simpleBatchOf(batch);
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
      portions.push(...portionsOf(group.sort(inLockOrder), (part) => this.#runSimple(part)));
    }
    portions.push(...portionsOf(generic, (part) => this.#runGeneric(part)));
    return portions;
  }

  #runSimple(batches: readonly SimpleBatch[]): Promise<readonly boolean[]> {
    return this.#server.persist(async (mayHaveApplied) => {
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

/** Runs the parts one after the other; stops at the first failure. */
async function inTurn<T>(
  parts: readonly (readonly T[])[],
  run: (part: readonly T[]) => Promise<readonly boolean[]>,
): Promise<readonly boolean[]> {
  const applied: boolean[] = [];
  try {
    for (const part of parts) applied.push(...(await run(part)));
    return applied;
  } catch (error) {
    const failure = asFailure(error);
    throw new Failure(failure.cause, failure.mayHaveApplied || applied.includes(true), false, failure.state);
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

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(error, error instanceof ThreadmarkError && error.committed === "unknown", false);
}
