import type { ThreadInfo } from "../../model/checkpoint.ts";

/** How many threads were active, and how many were begun, in equal stretches of time up to now. */
export interface Activity {
  readonly from: number;
  readonly to: number;
  readonly updated: readonly number[];
  readonly created: readonly number[];
}

/** Counts threads by when they were last active and when they were begun. */
export function activityOf(threads: readonly ThreadInfo[], from: number, to: number, stretches: number): Activity {
  const updated = new Array<number>(stretches).fill(0);
  const created = new Array<number>(stretches).fill(0);
  const count = (counts: number[], at: number): void => {
    const stretch = Math.floor(((at - from) / (to - from)) * stretches);
    if (stretch >= 0 && stretch <= stretches) counts[Math.min(stretches - 1, stretch)]! += 1;
  };
  for (const { updatedAt, createdAt } of threads) {
    count(updated, updatedAt);
    count(created, createdAt);
  }
  return { from, to, updated, created };
}
