import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { MarkVersion } from "../records/marks.ts";
import { fromRecord, type Row, toRecord } from "../records/row.ts";
import { ownRow } from "../view/own-rows.ts";
import { homeOf } from "../view/row-at.ts";

/** The seqs of the rows that are removed, by tape. */
export type RemovedRows = ReadonlyMap<number, ReadonlySet<number>>;

/** Returns the nearest ancestor that stays, from `seq` on; 0 if none does. */
export async function nearestRemaining(
  context: Context,
  tape: Tape,
  doomed: RemovedRows,
  seq: number,
): Promise<number> {
  return (await removedFrom(context, tape, doomed, seq, (row) => row.parent)).first;
}

/** Returns the removed frames from `seq` on, each the base of the one before, and the first frame that stays. */
export function removedBases(context: Context, tape: Tape, doomed: RemovedRows, seq: number): Promise<RemovedLine> {
  return removedFrom(context, tape, doomed, seq, (row) => row.base);
}

interface RemovedLine {
  readonly gone: readonly number[];
  /** The first row that stays; 0 if none does. */
  readonly first: number;
}

async function removedFrom(
  context: Context,
  tape: Tape,
  doomed: RemovedRows,
  seq: number,
  next: (row: Row) => number,
): Promise<RemovedLine> {
  const gone: number[] = [];
  let first = seq;
  while (first !== 0) {
    const home = await homeOf(context, tape, first);
    if (!doomed.get(home.number)?.has(first)) break;
    gone.push(first);
    const row = await ownRow(context, home, first);
    first = row ? next(row) : 0;
  }
  return { gone, first };
}

/** Returns the versions of a mark with parents that stay: the given array itself if all of them do. */
export async function rebasedVersions(
  context: Context,
  tape: Tape,
  doomed: RemovedRows,
  versions: readonly MarkVersion[],
): Promise<readonly MarkVersion[]> {
  let changed = false;
  const rebased: MarkVersion[] = [];
  for (const version of versions) {
    const before = version.row?.parent ?? 0;
    const parent = await nearestRemaining(context, tape, doomed, before);
    if (!version.row || parent === before) rebased.push(version);
    else {
      changed = true;
      rebased.push({ ...version, row: toRecord({ ...fromRecord(0, version.row), parent, base: parent }) });
    }
  }
  return changed ? rebased : versions;
}
