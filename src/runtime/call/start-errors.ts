import { ThreadmarkError } from "../../errors.ts";
import type { Checkpoint } from "../../model/checkpoint.ts";
import { messageOf, RunError } from "../errors.ts";
import { type BranchFailure, UnknownTarget } from "../graph/routing.ts";

/** Makes the `NOT_FOUND` of a resume: the thread does not exist, or has no such checkpoint. */
export function nothingToResume(thread: string, checkpoint?: string): ThreadmarkError {
  if (checkpoint === undefined) {
    const message = `There is no thread "${thread}" to resume. Start it with run().`;
    return new ThreadmarkError("NOT_FOUND", message, { thread });
  }
  const message = `Thread "${thread}" has no checkpoint "${checkpoint}" to resume from. See its history().`;
  return new ThreadmarkError("NOT_FOUND", message, { thread, checkpoint });
}

/** Makes the `UNFINISHED` of a run whose thread still has tasks from the run before. */
export function unfinishedRun(thread: string, { next, step, interrupts }: Checkpoint): RunError {
  const what = interrupts.length > 0 ? `waits for ${interrupts.length} answers` : `has ${next.length} tasks to run`;
  return new RunError(
    "UNFINISHED",
    `The last run of thread "${thread}" ${what} after step ${step}. Go on with resume(), or run with ifUnfinished: "restart" to drop that, or "continue" to drop the input.`,
    { thread, step },
  );
}

/** Makes the error of a run that is aborted at START, before any node has run. */
export function startAborted(workflow: string, thread: string | undefined, reason: unknown): RunError {
  const message = `Workflow "${workflow}" was aborted before its first step: ${messageOf(reason)}`;
  return new RunError("ABORTED", message, { thread, cause: reason });
}

/** Makes the error of a run that fails at START, before any node has run. */
export function startFailure(
  workflow: string,
  thread: string | undefined,
  error: UnknownTarget | BranchFailure,
): RunError {
  const code = error instanceof UnknownTarget ? "UNKNOWN_NODE" : "NODE_FAILED";
  const cause = error instanceof UnknownTarget ? error : error.cause;
  const message = `Workflow "${workflow}" could not start: ${messageOf(error)}`;
  return new RunError(code, message, { thread, node: error.from, cause });
}
