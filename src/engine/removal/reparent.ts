import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { type MarkVersion, withVersion } from "../records/marks.ts";
import { toRecord } from "../records/row.ts";
import { ownRow } from "../view/lineage/own-rows.ts";
import { homeOf, type Shown } from "../view/row-at.ts";
import type { RemovalCandidate } from "./candidate.ts";

/**
 * Returns marks, by seq, for the children of removed checkpoints that were replaced. A replacement may have named another
 * parent than its frame builds on. Its mark goes with it, and a child would then follow the frame's parent, so a mark of
 * the child names the parent it follows. Each mark has all its versions.
 */
export async function reparented(
  context: EngineContext,
  tape: Tape,
  rows: readonly RemovalCandidate[],
  chosen: ReadonlySet<number>,
): Promise<ReadonlyMap<number, readonly MarkVersion[]>> {
  const marks = new Map<number, readonly MarkVersion[]>();
  const frames = await parentsOfFrames(context, tape, rows, chosen);
  if (frames.size === 0) return marks;
  const shown = new Map(rows.map(({ row, parent }) => [row.seq, parent]));
  const nearest = (from: number, byFrame: boolean): number => {
    let seq = from;
    while (chosen.has(seq)) seq = (byFrame ? frames.get(seq) : undefined) ?? shown.get(seq) ?? 0;
    return seq;
  };
  for (const { row, parent } of rows) {
    if (chosen.has(row.seq) || !chosen.has(parent)) continue;
    const follows = nearest(parent, false);
    if (follows === nearest(parent, true)) continue;
    const { replacedBy = {}, ...plain }: Shown = row;
    marks.set(
      row.seq,
      withVersion(tape.marks.get(row.seq), {
        generation: tape.meta.generation,
        row: toRecord({ ...plain, parent: follows, base: follows, tagged: true }),
        change: replacedBy,
      }),
    );
  }
  return marks;
}

/** Returns the parents of the frames of removed checkpoints that were replaced, where they show another parent. */
async function parentsOfFrames(
  context: EngineContext,
  tape: Tape,
  rows: readonly RemovalCandidate[],
  chosen: ReadonlySet<number>,
): Promise<ReadonlyMap<number, number>> {
  const parents = new Map<number, number>();
  for (const { row } of rows) {
    if (row.replacedBy === undefined || !chosen.has(row.seq)) continue;
    const frame = await ownRow(context, await homeOf(context, tape, row.seq), row.seq);
    if (frame && frame.parent !== row.parent) parents.set(row.seq, frame.parent);
  }
  return parents;
}
