import { type ErrorCode, ThreadmarkError } from "../../errors.ts";

/** A refused request: an HTTP status, a code for programs, a message for people. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function invalid(message: string): HttpError {
  return new HttpError(400, "INVALID", message);
}

const statusOf: Readonly<Record<ErrorCode, number>> = {
  NOT_FOUND: 404,
  CONFLICT: 409,
  BUSY: 409,
  FENCED: 409,
  SERIALIZE: 400,
  READ_ONLY: 403,
  TOO_LARGE: 413,
  UNSUPPORTED: 501,
  CORRUPT: 500,
  VERSION: 500,
  CLOSED: 503,
  MOVED: 503,
  EXPIRED: 410,
  KEY: 403,
  BACKEND: 500,
};

/** Returns any error as a refusal. An unexpected error keeps its details to itself. */
export function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof ThreadmarkError) return new HttpError(statusOf[error.code], error.code, error.message);
  if (error instanceof TypeError) return invalid(error.message);
  return new HttpError(500, "FAILED", "The inspector failed to answer. See its terminal.");
}
