/** The fault, as a stable code. Codes are part of the interface; messages are not. */
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
  | "EXPIRED"
  | "KEY"
  | "BACKEND";

/** Facts about a fault, for programs: the message says the same to people. */
export interface ErrorDetails {
  readonly thread?: string;
  readonly checkpoint?: string;
  /** The frame that could not be read, as `tape:seq`. */
  readonly frame?: string;
  /** The damaged threads that work on the whole store passed over, for `CORRUPT`: `thread` is the first of them. */
  readonly threads?: readonly string[];
  /** The path to the fault inside the value, for `SERIALIZE` and `TOO_LARGE`. */
  readonly path?: string;
  /** The holder of the lease or lock, for `BUSY`; of the lease that replaced yours, for `FENCED`. */
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

/** Facts that errors of a code may have; all codes may have `thread`, `checkpoint` and `committed`. */
interface FieldsByCode {
  readonly FENCED: "holder";
  readonly SERIALIZE: "path";
  readonly CORRUPT: "frame" | "threads";
  readonly BUSY: "holder" | "remaining";
  readonly TOO_LARGE: "path" | "bytes" | "limit";
}

type FieldsOf<Code extends ErrorCode> =
  | "thread"
  | "checkpoint"
  | "committed"
  | (Code extends keyof FieldsByCode ? FieldsByCode[Code] : never);

/** A {@link ThreadmarkError} of one code, with the facts that such errors have. */
export type ErrorOf<Code extends ErrorCode> = Code extends ErrorCode
  ? Omit<ThreadmarkError, "code" | Exclude<keyof ErrorDetails, FieldsOf<Code> | "cause">> & { readonly code: Code }
  : never;

/**
 * The base of all errors that Threadmark throws with a code: {@link ThreadmarkError}, and `RunError` of the runtime. Facts
 * that are not known are not there at all, so that printing an error shows only those that are.
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  /** The place in the package's documentation that explains this code and says what to do. */
  readonly help: string;

  constructor(code: Code, message: string, facts: object, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.help = `threadmark/docs/reference/errors.md#${code.toLowerCase()}`;
    for (const [name, fact] of Object.entries(facts)) {
      if (fact !== undefined) Object.defineProperty(this, name, { value: fact, enumerable: true, configurable: true });
    }
  }
}

/** Marks errors of this class, so that {@link ThreadmarkError.is} knows those of another copy of the package. */
const brand: unique symbol = Symbol.for("threadmark.error");

/**
 * The one error class of the store. Misuse of the interface is a `TypeError` instead.
 *
 * @example
 * try { await thread.put({ state }, { expect: seen.id }); }
 * catch (error) { if (ThreadmarkError.is(error, "CONFLICT")) retry(); else throw error; }
 */
export class ThreadmarkError extends CodedError<ErrorCode> {
  declare readonly name: "ThreadmarkError";
  declare readonly thread: string | undefined;
  declare readonly checkpoint: string | undefined;
  declare readonly frame: string | undefined;
  declare readonly threads: readonly string[] | undefined;
  declare readonly path: string | undefined;
  declare readonly holder: string | undefined;
  /** How many milliseconds the lease still has, for `BUSY`. */
  declare readonly remaining: number | undefined;
  /** How many bytes it would take, for `TOO_LARGE`. */
  declare readonly bytes: number | undefined;
  /** How many bytes there may be, for `TOO_LARGE`. */
  declare readonly limit: number | undefined;
  /** False where the commit is known not to have happened, `"unknown"` where its answer was lost; for `BACKEND` and `MOVED`. */
  declare readonly committed: false | "unknown" | undefined;

  static {
    Object.defineProperties(ThreadmarkError.prototype, {
      name: { value: "ThreadmarkError", configurable: true, writable: true },
      [brand]: { value: true },
    });
  }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...facts } = details;
    super(code, message, facts, cause === undefined ? undefined : { cause });
  }

  /**
   * Tells whether an error is one of these, of any of the codes given, and narrows its type to the facts that it has. Goes
   * by a brand instead of the class, so that errors of another copy of the package count.
   *
   * @example
   * if (ThreadmarkError.is(error, "BUSY")) console.log(error.holder, error.remaining);
   */
  static is(error: unknown): error is ThreadmarkError;
  static is<Code extends ErrorCode>(error: unknown, ...codes: readonly [Code, ...Code[]]): error is ErrorOf<Code>;
  static is(error: unknown, ...codes: readonly ErrorCode[]): boolean {
    if (typeof error !== "object" || error === null || !(brand in error)) return false;
    return codes.length === 0 || codes.includes((error as { readonly code?: unknown }).code as ErrorCode);
  }
}
