import type { ThreadmarkError } from "../../../errors.ts";
import { type Advice, adviseOn, ServerFailure } from "../../shared/failure.ts";

interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
}

/** Thrown for a value in binary form, as clients with `binary: true` request it: read as text, it would be wrong. */
export class BinaryValue extends Error {
  constructor() {
    super("the values come in binary form");
  }
}

/**
 * Matches errors of a connection attempt that no later attempt avoids: no password, no TLS or a bad certificate, an
 * ended pool.
 */
const hopeless = /^SASL|does not support SSL|certificate|EPROTO|after calling end/;

/** Returns the failure of a connection attempt: nothing was sent. */
export function notConnected(cause: unknown): ServerFailure {
  if (!isServerError(cause))
    return new ServerFailure(cause, false, !(cause instanceof Error && hopeless.test(cause.message)));
  // Waiting does not help against a wrong password, an unknown role or an unknown database.
  return new ServerFailure(cause, false, !/^(28|3D|42)/.test(cause.code), cause.code);
}

/**
 * Matches errors of Citus about a node that may have committed its part. They have the state of any internal error; others, such as the end of
 * a connection to a node, come as plain errors with the state that the node gave.
 */
const lostNode =
  /^(postmaster was shut down|could not commit transaction|failed to commit|failure on connection marked as essential)/;

/** Returns the failure of a statement that was sent and did not return a result. */
export function notAnswered(cause: unknown): ServerFailure {
  if (cause instanceof BinaryValue) return new ServerFailure(cause, true, false, "binary");
  if (!isServerError(cause)) return new ServerFailure(cause, true, true);
  const { code, severity, message } = cause;
  // A statement commits just before its answer is sent: a connection that the server (or a pooler, class 08) ends in
  // between reports that end, not the statement's. Every plain ERROR rolled the statement back.
  const isEnd = severity === "FATAL" || severity === "PANIC" || /^(08|57P0)/.test(code) || code === "40003";
  const mayHaveApplied = isEnd || (code === "XX000" && lostNode.test(message));
  return new ServerFailure(cause, mayHaveApplied, mayHaveApplied || isPassing(code), code);
}

/**
 * Returns whether a SQLSTATE is temporary: serialization failure, deadlock, a transaction failed by others, too many
 * connections, a server that starts or stops.
 */
function isPassing(code: string): boolean {
  return code === "40001" || code === "25P02" || code === "40P01" || code === "53300" || code.startsWith("57P0");
}

function isServerError(cause: unknown): cause is ServerError {
  if (!(cause instanceof Error)) return false;
  const { code, severity } = cause as Partial<ServerError>;
  return typeof severity === "string" && typeof code === "string" && /^[0-9A-Z]{5}$/.test(code);
}

/** Returns whether the tables do not exist (yet). */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof ServerFailure && (error.state === "42P01" || error.state === "3F000" || error.state === "42883")
  );
}

/** Returns whether another transaction inserted the same key. */
export function isTaken(error: unknown): boolean {
  return error instanceof ServerFailure && error.state === "23505";
}

/** Returns whether a row lacked a mandatory column. */
export function isIncomplete(error: unknown): boolean {
  return error instanceof ServerFailure && error.state === "23502";
}

/** By SQLSTATE, or a name of this backend for a fault that is not the server's. */
const advice: Advice = {
  "25006": ["READ_ONLY", "connect to the primary, as a role whose default_transaction_read_only is off"],
  "55P03": ["BUSY", "another transaction holds a lock: try again"],
  "42501": ["BACKEND", "the role lacks a right: grant CREATE and USAGE on the schema, or let its owner migrate once"],
  "57014": ["BACKEND", "the statement was cancelled: raise statement_timeout"],
  "53100": ["BACKEND", "the server's disk is full: make room"],
  "53300": ["BACKEND", "the server has no connection left: lower `connections`, or use a pooler"],
  "28P01": ["BACKEND", "the password was refused: check the url"],
  "3D000": ["BACKEND", "the database does not exist: create it"],
  "26000": [
    "BACKEND",
    "a prepared statement is gone: behind a transaction pooler, or where sessions are reset, pass `prepare: false`",
  ],
  "42P05": ["BACKEND", "a prepared statement is in the way: behind a transaction pooler pass `prepare: false`"],
  "0A000": ["UNSUPPORTED", "the server cannot do this: see the cause"],
  binary: ["UNSUPPORTED", "give a pool without `binary`, and leave `binary` of the driver's defaults off"],
  driver: ["UNSUPPORTED", "give a pool of the package `pg`"],
  encoding: [
    "UNSUPPORTED",
    "leave client_encoding at UTF8, which `pg` sets, or run `set client_encoding to 'UTF8'` on it",
  ],
  isolation: ["UNSUPPORTED", "set it to read committed or serializable for the role, the database or the pool"],
  unsynced: [
    "UNSUPPORTED",
    "turn it on for the role, the database or the server: a store with shards cannot do so itself",
  ],
  left: ["BACKEND", "end every transaction before its connection goes back to the pool"],
  large: ["TOO_LARGE", "keep large values elsewhere, and in the state only where they are"],
  XX001: ["CORRUPT", "the server found a damaged page: restore from a backup"],
  XX002: ["CORRUPT", "the server found a damaged index: reindex it"],
};

/** Returns the error that a caller sees. `committed` is given for commits only. */
export function toError(address: string, error: unknown, committed?: false | "unknown"): ThreadmarkError {
  return adviseOn(advice, address, error, committed);
}
