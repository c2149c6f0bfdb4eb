import type { ThreadInfo } from "../../model/checkpoint.ts";
import type { Status } from "../../model/status.ts";

/** How many threads have each status; those that none has are left out. */
export type StatusCounts = Readonly<Partial<Record<Status, number>>>;

export function statusesOf(threads: readonly ThreadInfo[]): Partial<Record<Status, number>> {
  const statuses: Partial<Record<Status, number>> = {};
  for (const { status } of threads) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

export function withoutZeros(counts: StatusCounts): Partial<Record<Status, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

export function sumOf(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
