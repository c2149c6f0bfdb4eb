import type { ThreadmarkError } from "../../../errors.ts";
import { type Advice, adviseOn, ServerFailure } from "../../shared/failure.ts";

/** Errors that pass: of a cluster that is being changed, of a server that starts, is busy or is being replaced. */
const passing = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|NOREPLICAS|READONLY|UNBLOCKED)$/;

/** Matches faults of a connection attempt that no later attempt avoids: a bad certificate, a server without TLS. */
const hopeless = /certificate|self-signed|EPROTO|wrong version number|Hostname\/IP does not match/i;

/** Returns the failure of a command that was sent: an error that the server answered, or the end of the connection. */
export function notAnswered(cause: unknown): ServerFailure {
  const state = stateOf(cause);
  if (state === "") return new ServerFailure(cause, true, true);
  return new ServerFailure(cause, state === "UNBLOCKED", passing.test(state), state);
}

/** Returns the failure of a connection attempt: nothing was sent. */
export function notConnected(cause: unknown): ServerFailure {
  const state = stateOf(cause);
  const isHopeless = state === "" ? cause instanceof Error && hopeless.test(cause.message) : !passing.test(state);
  return new ServerFailure(cause, false, !isHopeless, state);
}

/** Returns the first word of an error that the server answered; an empty text for one of the connection. */
function stateOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  const { name } = cause.constructor;
  if (name !== "SimpleError" && name !== "BlobError" && name !== "ErrorReply") return "";
  return /^[A-Z]+(?= |$)/.exec(cause.message)?.[0] ?? "ERR";
}

/** By the first word of the server's error, or a name of this backend for a fault that is not the server's. */
const advice: Advice = {
  OOM: ["BACKEND", "the server's memory is full: raise maxmemory, or prune and delete threads"],
  READONLY: ["READ_ONLY", "connect to the master, or name it by ?sentinel"],
  NOAUTH: ["BACKEND", "the server wants a password: put it into the url"],
  WRONGPASS: ["BACKEND", "the password was refused: check the url"],
  NOPERM: [
    "BACKEND",
    "the user lacks a right: allow the store's keys and the commands of sorted sets, streams and scripts",
  ],
  MISCONF: ["BACKEND", "the server cannot write to its disk: make room there"],
  NOREPLICAS: ["BACKEND", "too few replicas are connected to the server: start them"],
  CLUSTERDOWN: ["BACKEND", "a part of the cluster is down: bring its nodes back"],
  BUSY: ["BUSY", "others are in the way: try again"],
  REPLICAS: ["BACKEND", "too few replicas have the commit in time: look at their connection to the master"],
  large: ["TOO_LARGE", "keep large values elsewhere, and in the state only where they are"],
};

/** Returns the error that a caller sees. `committed` is given for commits only. */
export function toError(address: string, error: unknown, committed?: false | "unknown"): ThreadmarkError {
  return adviseOn(advice, address, error, committed);
}
