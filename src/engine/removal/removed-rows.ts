import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { MarkVersion } from "../records/marks.ts";
import { fromRecord, type Row, toRecord } from "../records/row.ts";
import { ownRow } from "../view/own-rows.ts";
import { homeOf } from "../view/row-at.ts";

/** Physical rows that go, by tape. */
export type Doomed = ReadonlyMap<number, ReadonlySet<number>>;

/** The nearest ancestor, from `seq` on, that stays. */
export async function nearestRemaining(context: Context, tape: Tape, doomed: Doomed, seq: number): Promise<number> {
  return (await goneFrom(context, tape, doomed, seq, (row) => row.parent)).first;
}

/** The frames that go, from `seq` on, each of which the one before builds on; and the first that stays. */
export function goneBases(context: Context, tape: Tape, doomed: Doomed, seq: number): Promise<Gone> {
  return goneFrom(context, tape, doomed, seq, (row) => row.base);
}

interface Gone {
  readonly gone: readonly number[];
  /** The first that stays; 0 if none does. */
  readonly first: number;
}

async function goneFrom(
  context: Context,
  tape: Tape,
  doomed: Doomed,
  seq: number,
  next: (row: Row) => number,
): Promise<Gone> {
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

/** The versions of a mark with parents that stay; the same ones if they all do. */
export async function rebasedVersions(
  context: Context,
  tape: Tape,
  doomed: Doomed,
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
