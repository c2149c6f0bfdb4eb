import { ThreadmarkError } from "../../../errors.ts";
import { ServerFailure } from "../../shared/failure.ts";

/** A part of a commit that uses one connection, nearly always with one statement. */
export interface Portion {
  /** The batches' indexes in the commit. */
  readonly indexes: readonly number[];
  run(): Promise<readonly boolean[]>;
}

/** Runs all portions of a commit of `count` batches at once. Rejects with a {@link ServerFailure} if one of them fails. */
export async function runPortions(portions: readonly Portion[], count: number): Promise<readonly boolean[]> {
  const applied = new Array<boolean>(count).fill(true);
  const outcomes = await Promise.allSettled(portions.map((portion) => portion.run()));
  const failures: ServerFailure[] = [];
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
  throw new ServerFailure(failure.cause, some || failures.some((one) => one.mayHaveApplied), false, failure.state);
}

/** Runs the parts one after the other; stops at the first failure. */
export async function inTurn<T>(
  parts: readonly (readonly T[])[],
  run: (part: readonly T[]) => Promise<readonly boolean[]>,
): Promise<readonly boolean[]> {
  const applied: boolean[] = [];
  try {
    for (const part of parts) applied.push(...(await run(part)));
    return applied;
  } catch (error) {
    const failure = asFailure(error);
    throw new ServerFailure(failure.cause, failure.mayHaveApplied || applied.includes(true), false, failure.state);
  }
}

function asFailure(error: unknown): ServerFailure {
  if (error instanceof ServerFailure) return error;
  return new ServerFailure(error, error instanceof ThreadmarkError && error.committed === "unknown", false);
}
