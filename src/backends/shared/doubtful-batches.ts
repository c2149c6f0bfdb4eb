import type { Batch } from "../../backend.ts";

/** Whether what a batch builds on was read before an interruption: it may be gone by now. */
export function isDoubtful({ follows }: Batch, interruptions: number): boolean {
  return follows !== undefined && follows.interruptions !== interruptions;
}

/** The batch, with what it builds on among its checks where that is in doubt. */
export function withDoubtfulCheck(batch: Batch, interruptions: number): Batch {
  const { follows, checks = [] } = batch;
  return follows !== undefined && isDoubtful(batch, interruptions) ? { ...batch, checks: [...checks, follows] } : batch;
}
