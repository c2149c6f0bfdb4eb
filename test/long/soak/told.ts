/**
 * The lines that a worker of the soak writes to its standard output: each operation is told before it begins, with all that
 * may come of it, and once more when it has ended. A worker that is killed leaves operations open: those may have happened.
 */
export type Kind =
  | "put"
  | "replace"
  | "write"
  | "delete"
  | "prune"
  | "fork"
  | "copy"
  | "drop"
  | "import"
  | "compact"
  | "lease"
  | "release";

export interface Operation {
  readonly kind: Kind;
  readonly thread: string;
  /** The namespace's only part, or nothing for the root. */
  readonly namespace?: string;
  readonly checkpoint?: string;
  /** The fingerprint of the state that is put. */
  readonly state?: string;
  /** Whether prunes have to leave the checkpoint, and nobody deletes it. */
  readonly kept?: boolean;
  readonly task?: string;
  /** The thread that a fork or copy makes. */
  readonly into?: string;
  /** How many milliseconds a lease lasts. */
  readonly ttl?: number;
}

export type Line =
  /** The worker has opened the store. */
  | { readonly ready: true }
  | { readonly begin: number; readonly at: number; readonly operation: Operation }
  | { readonly end: number; readonly at: number; readonly code?: string; readonly message?: string };

/** Microseconds of a clock that all processes of the machine share. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
