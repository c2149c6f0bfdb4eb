/** What went wrong, as a stable code. Codes are part of the interface; messages are not. */
export type ErrorCode =
  | "NOT_FOUND"
  | "CONFLICT"
  | "FENCED"
  | "SERIALIZE"
  | "CORRUPT"
  | "VERSION"
  | "BUSY"
  | "READ_ONLY"
  | "CLOSED"
  | "UNSUPPORTED"
  | "TOO_LARGE"
  | "MOVED"
  | "BACKEND";

/** Facts about a fault, for programs: the message says the same to people. */
export interface ErrorDetails {
  readonly thread?: string;
  readonly checkpoint?: string;
  /** The frame that could not be read, as `tape:seq`. */
  readonly frame?: string;
  /** Where in the value the fault lies, for `SERIALIZE` and `TOO_LARGE`. */
  readonly path?: string;
  /** Who holds the lease, for `BUSY`. */
  readonly holder?: string;
  /** How many milliseconds the lease still has, for `BUSY`. */
  readonly remaining?: number;
  /** How many bytes it would take, for `TOO_LARGE`. */
  readonly bytes?: number;
  /** How many bytes there may be, for `TOO_LARGE`. */
  readonly limit?: number;
  /** For `BACKEND` and `MOVED`: whether the commit is known not to have happened. */
  readonly committed?: false | "unknown";
  readonly cause?: unknown;
}

/**
 * The one error class of Threadmark. Misuse of the interface is a `TypeError` instead.
 *
 * @example
 * try { await thread.put({ state }, { expect: seen.id }); }
 * catch (error) { if (error instanceof ThreadmarkError && error.code === "CONFLICT") retry(); }
 */
export class ThreadmarkError extends Error {
  override readonly name = "ThreadmarkError";
  readonly code: ErrorCode;
  readonly thread: string | undefined;
  readonly checkpoint: string | undefined;
  readonly frame: string | undefined;
  readonly path: string | undefined;
  readonly holder: string | undefined;
  readonly remaining: number | undefined;
  readonly bytes: number | undefined;
  readonly limit: number | undefined;
  readonly committed: false | "unknown" | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.thread = details.thread;
    this.checkpoint = details.checkpoint;
    this.frame = details.frame;
    this.path = details.path;
    this.holder = details.holder;
    this.remaining = details.remaining;
    this.bytes = details.bytes;
    this.limit = details.limit;
    this.committed = details.committed;
  }
}
