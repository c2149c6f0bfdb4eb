import type { MarkVersion } from "../records/marks.ts";
import { fromRecord, type Row, toRecord } from "../records/row.ts";

/** The rows that a tape holds or inherits, and which of them are removed. A seq names a row. */
export interface ReachableRows {
  isRemoved(seq: number): Promise<boolean>;
  /** Returns the row as it was before the removal. */
  row(seq: number): Promise<Row | undefined>;
}

/** Returns the nearest ancestor that stays, from `seq` on; 0 if none does. */
export async function nearestRemaining(reachable: ReachableRows, seq: number): Promise<number> {
  return (await removedFrom(reachable, seq, (row) => row.parent)).first;
}

/** Returns the removed frames from `seq` on, each the base of the one before, and the first frame that stays. */
export function removedBases(reachable: ReachableRows, seq: number): Promise<RemovedLine> {
  return removedFrom(reachable, seq, (row) => row.base);
}

interface RemovedLine {
  readonly gone: readonly number[];
  /** The first row that stays; 0 if none does. */
  readonly first: number;
}

async function removedFrom(reachable: ReachableRows, seq: number, next: (row: Row) => number): Promise<RemovedLine> {
  const gone: number[] = [];
  let first = seq;
  while (first !== 0 && (await reachable.isRemoved(first))) {
    gone.push(first);
    const row = await reachable.row(first);
    first = row ? next(row) : 0;
  }
  return { gone, first };
}

/** Returns the versions of a mark with parents that stay: the given array itself if all of them do. */
export async function rebasedVersions(
  reachable: ReachableRows,
  versions: readonly MarkVersion[],
): Promise<readonly MarkVersion[]> {
  let changed = false;
  const rebased: MarkVersion[] = [];
  for (const version of versions) {
    const before = version.row?.parent ?? 0;
    const parent = await nearestRemaining(reachable, before);
    if (!version.row || parent === before) rebased.push(version);
    else {
      changed = true;
      rebased.push({ ...version, row: toRecord({ ...fromRecord(0, version.row), parent, base: parent }) });
    }
  }
  return changed ? rebased : versions;
}
