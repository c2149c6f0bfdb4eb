import type { Engine } from "./engine.ts";
import type { MarkVersion } from "./marks.ts";
import { ownRow } from "./own-rows.ts";
import { fromRecord, toRecord } from "./row.ts";
import type { Tape } from "./tape.ts";
import { homeOf } from "./view.ts";

/** Physical rows that go, by tape. */
export type Doomed = ReadonlyMap<number, ReadonlySet<number>>;

/** The nearest ancestor, from `seq` on, that stays. */
export async function nearestRemaining(engine: Engine, tape: Tape, doomed: Doomed, seq: number): Promise<number> {
  let nearest = seq;
  while (nearest !== 0) {
    const home = await homeOf(engine, tape, nearest);
    if (!doomed.get(home.number)?.has(nearest)) break;
    nearest = (await ownRow(engine, home, nearest))?.parent ?? 0;
  }
  return nearest;
}

/** The frames that go, from `seq` on, each of which the one before builds on; and the first that stays, 0 if none does. */
export async function doomedBases(
  engine: Engine,
  tape: Tape,
  doomed: Doomed,
  seq: number,
): Promise<{ readonly gone: readonly number[]; readonly base: number }> {
  const gone: number[] = [];
  let base = seq;
  while (base !== 0) {
    const home = await homeOf(engine, tape, base);
    if (!doomed.get(home.number)?.has(base)) break;
    gone.push(base);
    base = (await ownRow(engine, home, base))?.base ?? 0;
  }
  return { gone, base };
}

/** The versions of a mark with parents that stay; the same ones if they all do. */
export async function rebasedVersions(
  engine: Engine,
  tape: Tape,
  doomed: Doomed,
  versions: readonly MarkVersion[],
): Promise<readonly MarkVersion[]> {
  let changed = false;
  const rebased: MarkVersion[] = [];
  for (const version of versions) {
    const before = version.row?.parent ?? 0;
    const parent = await nearestRemaining(engine, tape, doomed, before);
    if (!version.row || parent === before) rebased.push(version);
    else {
      changed = true;
      rebased.push({ ...version, row: toRecord({ ...fromRecord(0, version.row), parent, base: parent }) });
    }
  }
  return changed ? rebased : versions;
}
