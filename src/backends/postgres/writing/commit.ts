import type { Batch, Value } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { isDoubtful, proved } from "../../shared/follows.ts";
import { Failure, isTaken, toError } from "../connection/failure.ts";
import type { Server } from "../connection/server.ts";
import type { Change, ChangeRunner } from "./generic-batch.ts";
import { changeOf } from "./generic-batch.ts";
import { lengthOf } from "./message.ts";
import type { Shape, Step } from "./single-step.ts";
import { stepOf } from "./single-step.ts";
import type { StepRunner } from "./single-step-runner.ts";
import { lanesOf } from "./split-statements.ts";

interface Placed<T> {
  readonly place: number;
  /** Of its values; 0 where there is nothing to compare it with. */
  readonly length: number;
  readonly of: T;
}

/** A part of a commit that goes over one connection, nearly always as one statement. */
interface Portion {
  /** Their places in the commit. */
  readonly places: readonly number[];
  run(): Promise<readonly boolean[]>;
}

/**
 * Commits batches: the steps among them (a check and inserts) by plain statements, the others by the function `apply`.
 * A commit of one batch is one statement; a large one is spread over a few connections, which the batches' independence
 * allows.
 *
 * Lost answers. A statement whose connection broke may have been applied. It is tried again, and that can be told:
 * - a batch run by `apply` carries a token that the first attempt, if applied, has left in the table `token`;
 * - a step's retry is refused by the row that the first attempt inserted. If that row holds the very value of this step,
 *   and so do those beside it, they are this step's: a checkpoint's row names the store that put it, and of what tasks
 *   have written all is there. If it holds another, the step was refused. If there is no row, its check failed or a row
 *   beside it was taken, and whether before or after the row came and went cannot be told; nor where one beside it differs.
 */
export class Committer {
  readonly #server: Server;
  readonly #steps: StepRunner;
  readonly #changes: ChangeRunner;
  readonly #read: (step: Step) => Promise<readonly (Value | undefined)[]>;

  constructor(
    server: Server,
    steps: StepRunner,
    changes: ChangeRunner,
    read: (step: Step) => Promise<readonly (Value | undefined)[]>,
  ) {
    this.#server = server;
    this.#steps = steps;
    this.#changes = changes;
    this.#read = read;
  }

  /** Rejects with a {@link Failure} that says whether anything may have been applied. */
  async commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    const portions = this.#portions(batches);
    const [only] = portions;
    // The common case. Of several batches even one portion has its own order.
    if (only !== undefined && batches.length === 1) return only.run();
    const applied = batches.map(() => true);
    const outcomes = await Promise.allSettled(portions.map((portion) => portion.run()));
    const failures: Failure[] = [];
    let some = false;
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "rejected") failures.push(asFailure(outcome.reason));
      else {
        some ||= outcome.value.includes(true);
        for (const [at, place] of (portions[index] as Portion).places.entries()) {
          applied[place] = outcome.value[at] as boolean;
        }
      }
    }
    const [failure] = failures;
    if (failure === undefined) return applied;
    throw new Failure(failure.cause, some || failures.some((one) => one.mayHaveApplied), false, failure.state);
  }

  /** Empty batches are in none: there is nothing to run. */
  #portions(batches: readonly Batch[]): readonly Portion[] {
    const steps = new Map<Shape, Placed<Step>[]>();
    const changes: Placed<Change>[] = [];
    for (const [place, batch] of batches.entries()) {
      const step = stepOf(batch);
      // Before anything is sent: should one be too large for any message, then none was applied.
      const length = batches.length === 1 ? 0 : lengthOf(batch);
      if (step !== undefined) {
        const group = steps.get(step.shape);
        if (group === undefined) steps.set(step.shape, [{ place, length, of: step }]);
        else group.push({ place, length, of: step });
      } else if (!isEmpty(batch)) changes.push({ place, length, of: changeOf(batch) });
    }
    const portions: Portion[] = [];
    for (const group of steps.values()) {
      portions.push(...sliced(group.sort(inLockOrder), (part) => this.#runSteps(part)));
    }
    portions.push(...sliced(changes, (part) => this.#runChanges(part)));
    return portions;
  }

  #runSteps(steps: readonly Step[]): Promise<readonly boolean[]> {
    return this.#server.persist(async (mayHaveApplied) => {
      const applied = steps.some(({ batch }) => isDoubtful(batch, this.#server.interruptions))
        ? await this.#runChanges(steps.map(({ batch }) => changeOf(batch)))
        : await this.#steps.run(steps);
      if (!mayHaveApplied || !applied.includes(false)) return applied;
      return Promise.all(applied.map((one, index) => one || this.#wasApplied(steps[index] as Step)));
    });
  }

  async #wasApplied(step: Step): Promise<boolean> {
    const [found, ...beside] = await this.#read(step);
    if (found !== undefined && !sameValue(found, step.insert.value)) return false;
    if (found !== undefined && step.beside.every(({ value }, index) => sameValue(beside[index], value))) return true;
    const fault = "the answer to a commit was lost, and a record of it is gone or another's";
    throw toError(this.#server.place, new Error(fault), "unknown");
  }

  /** A key inserted by another while the statement ran makes all of it fail: then each batch is run by itself. */
  async #runChanges(changes: readonly Change[]): Promise<readonly boolean[]> {
    try {
      // The server that answers now may not have what the one before had told.
      return await this.#server.persist(() => {
        const { interruptions } = this.#server;
        return this.#changes.run(changes.map(({ batch, token }) => ({ batch: proved(batch, interruptions), token })));
      });
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (changes.length === 1) return [false];
      return inTurn(
        changes.map((change) => [change]),
        (part) => this.#runChanges(part),
      );
    }
  }
}

function* sliced<T>(
  list: readonly Placed<T>[],
  run: (part: readonly T[]) => Promise<readonly boolean[]>,
): Generator<Portion> {
  for (const lane of lanesOf(list)) {
    const parts = lane.map((part) => part.map(({ of }) => of));
    const [only = []] = parts;
    const places = lane.flatMap((part) => part.map(({ place }) => place));
    yield { places, run: () => (parts.length === 1 ? run(only) : inTurn(parts, run)) };
  }
}

/** One after the other; what follows one that fails is not run. */
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

/** Statements that lock the same records lock them in one order, so none waits for another in a ring. */
function inLockOrder({ of: a }: Placed<Step>, { of: b }: Placed<Step>): number {
  return a.insert.key.lineage - b.insert.key.lineage || a.insert.key.group - b.insert.key.group;
}

function isEmpty({ checks, deletes, inserts, puts }: Batch): boolean {
  return [checks, deletes, inserts, puts].every((list) => list === undefined || list.length === 0);
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(error, error instanceof ThreadmarkError && error.committed === "unknown", false);
}

function sameValue(a: Value | undefined, b: Value): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
