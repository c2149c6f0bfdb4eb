import { type ErrorCode, ThreadmarkError } from "../../errors.ts";

/** A failed attempt at a server: whether it may have taken effect, and whether another could succeed. */
export class ServerFailure extends Error {
  /** True if the server may have done what it was asked nevertheless. */
  readonly mayHaveApplied: boolean;
  /** True if another attempt may succeed. */
  readonly passing: boolean;
  /** The server's name for the error, or the backend's for a fault that is not the server's; empty where there is none. */
  readonly state: string;

  constructor(cause: unknown, mayHaveApplied: boolean, passing: boolean, state = "") {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.mayHaveApplied = mayHaveApplied;
    this.passing = passing;
    this.state = state;
  }
}

/** The code of an error that callers see, and what they can do, for each `state` of a failure that is known. */
export type Advice = Readonly<Record<string, readonly [ErrorCode, string]>>;

/** Returns the error that a caller sees. `committed` is given for commits only. */
export function adviseOn(
  advice: Advice,
  address: string,
  error: unknown,
  committed?: false | "unknown",
): ThreadmarkError {
  if (error instanceof ThreadmarkError) return error;
  const { state, cause, message } = error instanceof ServerFailure ? error : new ServerFailure(error, false, false);
  const [code, next] = advice[state] ?? ["BACKEND", "check that the server is reachable and healthy"];
  const outcome = committed === "unknown" ? " (whether the commit was applied cannot be told)" : "";
  return new ThreadmarkError(code, `${address}: ${message}${outcome}; ${next}.`, {
    cause,
    ...(committed === undefined ? {} : { committed }),
  });
}
