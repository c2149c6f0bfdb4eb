import { type ErrorCode, ThreadmarkError } from "../../errors.ts";

/** A request that is not answered as asked: an HTTP status, a code for programs, a message for people. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function invalid(message: string): Refusal {
  return new Refusal(400, "INVALID", message);
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
  BACKEND: 500,
};

/** Any error as an answer. What nobody foresaw keeps its details to itself. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ThreadmarkError) return new Refusal(statusOf[error.code], error.code, error.message);
  if (error instanceof TypeError) return invalid(error.message);
  return new Refusal(500, "FAILED", "The inspector failed to answer. See its terminal.");
}
