import { ThreadmarkError } from "../../../src/errors.ts";

/** A lease as it was given. */
export interface NaiveLease {
  readonly epoch: number;
  readonly expires: number;
  /** Given back, or gone with its thread: only the epoch is left. */
  readonly ended?: boolean;
}

/** Refuses a stale lease, whatever the time; and what comes without one while another's is live. */
export function checkLease(held: NaiveLease | undefined, epoch: number | undefined, now: number): void {
  if (epoch !== undefined) {
    if (held?.epoch !== epoch || held.ended) throw new ThreadmarkError("FENCED", "the lease was lost");
  } else if (held !== undefined && held.expires > now) throw new ThreadmarkError("BUSY", "another holds the lease");
}
