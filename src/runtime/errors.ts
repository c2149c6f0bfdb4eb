import { CodedError } from "../errors.ts";

/** A fault that a schema found in an input. */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * The stable code of a run that was refused or failed. Faults of the store keep their own codes: see `ThreadmarkError`.
 *
 * - `NODE_FAILED`: a node (or a branch) threw, after its retries
 * - `TIMEOUT`: a node's last attempt took longer than its timeout
 * - `ABORTED`: the run's signal was aborted
 * - `STEP_LIMIT`: the run took `maxSteps` steps without an end; resume it with more
 * - `UNKNOWN_NODE`: a goto, a branch, `update({ as })` or a stored `next` names a node that the graph lacks
 * - `OTHER_WORKFLOW`: the thread belongs to another workflow
 * - `INVALID_INPUT`: the schema refused the input; see `issues`
 * - `UNFINISHED`: the thread has an unfinished run, and an input was given for a new one
 * - `NO_INTERRUPT`: an answer was given, but no interrupt (or none of that id) waits for an answer
 */
export type RunErrorCode =
  | "NODE_FAILED"
  | "TIMEOUT"
  | "ABORTED"
  | "STEP_LIMIT"
  | "UNKNOWN_NODE"
  | "OTHER_WORKFLOW"
  | "INVALID_INPUT"
  | "UNFINISHED"
  | "NO_INTERRUPT";

/** The fields of a {@link RunError} that say where it happened, as its message does in words. */
export interface RunErrorDetails {
  readonly thread?: string | undefined;
  readonly run?: string | undefined;
  readonly node?: string | undefined;
  readonly task?: string | undefined;
  readonly step?: number | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly cause?: unknown;
}

/**
 * The error of a run that was refused or failed. Results of finished tasks are kept: `resume` runs only the others.
 *
 * @example
 * try { await flow.run(input, { thread: "t1" }); }
 * catch (error) { if (error instanceof RunError && error.code === "NODE_FAILED") report(error.node, error.cause); }
 */
export class RunError extends CodedError<RunErrorCode> {
  declare readonly name: "RunError";
  declare readonly thread: string | undefined;
  declare readonly run: string | undefined;
  declare readonly node: string | undefined;
  declare readonly task: string | undefined;
  declare readonly step: number | undefined;
  declare readonly issues: readonly Issue[] | undefined;

  static {
    Object.defineProperty(RunError.prototype, "name", { value: "RunError", configurable: true, writable: true });
  }

  constructor(code: RunErrorCode, message: string, details: RunErrorDetails = {}) {
    const { cause, ...facts } = details;
    super(code, message, facts, "cause" in details ? { cause } : undefined);
  }
}

/**
 * Wraps a fault of the store on its way up through running tasks, so that no node is blamed for it. Never leaves the
 * runtime: callers get the wrapped error.
 */
export class StorageFailure extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super("The store failed.", { cause: error });
    this.error = error;
  }
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
