/**
 * The status of a thread, kept at commit.
 *
 * - `running`: its lease is live
 * - `waiting`: its head has interrupts that wait for an answer
 * - `failed`: an error was written against its head, and not taken back
 * - `cancelled`: its last run was cancelled
 * - `done`: nothing is to run next
 * - `paused`: anything else
 */
export type Status = "running" | "waiting" | "failed" | "cancelled" | "done" | "paused";

export const statuses: readonly Status[] = ["running", "waiting", "failed", "cancelled", "done", "paused"];

/** The facts that decide the status of a thread. */
export interface StatusFacts {
  /** True while the thread's lease is live. */
  readonly leased: boolean;
  /** The errors that are written against the head: see {@link endOf}. */
  readonly end: "failed" | "cancelled" | undefined;
  /** How many interrupts of the head wait for an answer. */
  readonly waiting: number;
  /** How many activations are next. */
  readonly pending: number;
}

/** Decides the status of a thread that has checkpoints. */
export function statusOf({ leased, end, waiting, pending }: StatusFacts): Status {
  if (leased) return "running";
  if (waiting > 0) return "waiting";
  if (end !== undefined) return end;
  return pending === 0 ? "done" : "paused";
}

/** The code of an error write that says that a run was cancelled, not that it failed. */
export const CANCELLED = "CANCELLED";

/** Returns how a run ended, by the values of the error writes against its head. A value of null takes an error back. */
export function endOf(errors: readonly unknown[]): StatusFacts["end"] {
  const standing = errors.filter((error) => error !== null);
  if (standing.length === 0) return undefined;
  const isCancelled = (error: unknown): boolean =>
    (error as { readonly code?: unknown } | undefined)?.code === CANCELLED;
  return standing.some(isCancelled) ? "cancelled" : "failed";
}
