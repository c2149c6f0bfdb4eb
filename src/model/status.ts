/**
 * The status of a thread, kept at commit.
 *
 * - `running`: its lease is live
 * - `waiting`: its head has interrupts that wait for an answer
 * - `failed`: an error was written against its head
 * - `done`: nothing is to run next
 * - `paused`: anything else
 */
export type Status = "running" | "waiting" | "failed" | "done" | "paused";

export const statuses: readonly Status[] = ["running", "waiting", "failed", "done", "paused"];

/** The facts that decide the status of a thread. */
export interface StatusFacts {
  /** True while the thread's lease is live. */
  readonly leased: boolean;
  /** True if an error was written against the head. */
  readonly failed: boolean;
  /** How many interrupts of the head wait for an answer. */
  readonly waiting: number;
  /** How many activations are next. */
  readonly pending: number;
}

/** Decides the status of a thread that has checkpoints. */
export function statusOf({ leased, failed, waiting, pending }: StatusFacts): Status {
  if (leased) return "running";
  if (waiting > 0) return "waiting";
  if (failed) return "failed";
  return pending === 0 ? "done" : "paused";
}
