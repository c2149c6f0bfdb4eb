/** A complaint of a schema. */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Why a run was refused or ended, as a stable code. Faults of the store keep their own codes: see `ThreadmarkError`.
 *
 * - `NODE_FAILED`: a node (or a branch) threw, after its retries
 * - `TIMEOUT`: a node's last attempt took longer than its timeout
 * - `ABORTED`: the run's signal was aborted
 * - `STEP_LIMIT`: `maxSteps` were taken; resume with more
 * - `UNKNOWN_NODE`: a goto, a branch, `update({ as })` or a stored `next` names a node that the graph lacks
 * - `OTHER_WORKFLOW`: the thread belongs to another workflow
 * - `INVALID_INPUT`: the schema refused the input; see `issues`
 * - `UNFINISHED`: the thread has an unfinished run, and an input was given for a new one
 * - `NO_INTERRUPT`: an answer was given, but nothing (or nothing of that id) waits for one
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

/** Where it happened, for programs: the message says the same to people. */
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
 * A run that was refused or could not go on. What had finished is kept: `resume` continues with the rest.
 *
 * @example
 * try { await flow.run(input, { thread: "t1" }); }
 * catch (error) { if (error instanceof RunError && error.code === "NODE_FAILED") report(error.node, error.cause); }
 */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly code: RunErrorCode;
  readonly thread: string | undefined;
  readonly run: string | undefined;
  readonly node: string | undefined;
  readonly task: string | undefined;
  readonly step: number | undefined;
  readonly issues: readonly Issue[] | undefined;

  constructor(code: RunErrorCode, message: string, details: RunErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.thread = details.thread;
    this.run = details.run;
    this.node = details.node;
    this.task = details.task;
    this.step = details.step;
    this.issues = details.issues;
  }
}

/**
 * A fault of the store on its way up through the tasks that were running, so that it is not taken for the fault of a
 * node. Never leaves the runtime: what it carries is thrown instead.
 */
export class StorageFailure extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super("The store failed.", { cause: error });
    this.error = error;
  }
}

/** What any thrown thing says, in a few words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
