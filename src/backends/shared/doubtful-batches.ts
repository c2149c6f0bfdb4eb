import type { Batch } from "../../backend.ts";

/** Returns whether the record that a batch follows was read before an interruption, and so may be gone. */
export function isDoubtful({ follows }: Batch, interruptions: number): boolean {
  return follows !== undefined && follows.interruptions !== interruptions;
}

/** Returns the batch, with the record it follows among its checks if that is in doubt. */
export function withDoubtfulCheck(batch: Batch, interruptions: number): Batch {
  const { follows, checks = [] } = batch;
  return follows !== undefined && isDoubtful(batch, interruptions) ? { ...batch, checks: [...checks, follows] } : batch;
}
