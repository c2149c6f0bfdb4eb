import { ThreadmarkError } from "../../errors.ts";
import { Attempts, PATIENCE } from "../../platform/attempts.ts";
import { wasOvertaken } from "./overtaken.ts";

/**
 * Runs an attempt until others do not overtake it, and throws BUSY when the time is up. `isStale` tells whether anything was
 * changed since the attempt began, and brings what is remembered up to date: see {@link wasOvertaken}.
 */
export async function untilUndisturbed<T>(
  thread: string,
  attempt: (again: boolean) => Promise<T>,
  isStale: () => Promise<boolean>,
): Promise<T> {
  let attempts: Attempts | undefined;
  for (;;) {
    try {
      return await attempt(attempts !== undefined);
    } catch (error) {
      if (!(await wasOvertaken(error, isStale))) throw error;
      attempts ??= new Attempts();
      if (!(await attempts.again())) throw neverRests(thread, "it was read");
    }
  }
}

/** Returns the error of an operation that others overtook for as long as it may take. */
export function neverRests(thread: string, during: string): ThreadmarkError {
  return new ThreadmarkError(
    "BUSY",
    `Thread ${JSON.stringify(thread)} was changed by others again and again for ${PATIENCE / 1000} seconds while ${during}. Try again.`,
    { thread },
  );
}
