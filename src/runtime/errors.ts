import { CodedError } from "../errors.ts";
import type { SchemaIssue as Issue } from "../model/interface/standard-schema.ts";

export type { Issue };

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
 * - `GAVE_UP`: workers have died with the run too often
 * - `INVALID_ANSWER`: the node's schema of answers refused an answer; see `issues`
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
  | "NO_INTERRUPT"
  | "INVALID_ANSWER"
  | "GAVE_UP";

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

/** Returns the message of any thrown value, whatever it does when it is looked at. */
export function messageOf(error: unknown): string {
  try {
    const message: unknown = error instanceof Error ? error.message : error;
    return typeof message === "string" ? message : String(message);
  } catch {
    return `a thrown ${typeof error} that has no text`;
  }
}

/** Returns the name of a thrown error; that of the given error where it has none. */
export function nameOf(error: unknown, otherwise: Error): string {
  try {
    return error instanceof Error ? String(error.name) : otherwise.name;
  } catch {
    return otherwise.name;
  }
}

const LONGEST_STACK = 4_000;
const MOST_CAUSES = 3;

/** Returns the stack of a thrown error and the errors that caused it, to be kept with a failed task. */
export function originOf(error: unknown, depth: number = MOST_CAUSES): Record<string, unknown> {
  try {
    if (!(error instanceof Error)) return {};
    const { stack, cause } = error;
    const hasCause = cause !== undefined && cause !== null && depth > 0;
    return {
      ...(typeof stack === "string" &&
        depth === MOST_CAUSES && { stack: stack.slice(0, LONGEST_STACK).toWellFormed() }),
      ...(hasCause && {
        cause: { name: nameOf(cause, error), message: messageOf(cause), ...originOf(cause, depth - 1) },
      }),
    };
  } catch {
    return {};
  }
}

/** Warns of a fault that is nobody's to catch, as of a listener: as Node does where there is Node, else in the console. */
export function warnOf(message: string): void {
  const { process: node } = globalThis as { process?: { emitWarning?: (message: string) => void } };
  // biome-ignore lint/suspicious/noConsole: a browser has no other place for a warning.
  if (node?.emitWarning === undefined) console.warn(message);
  else node.emitWarning(message);
}
