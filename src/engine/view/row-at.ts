import type { Delta } from "../../codec/delta/index.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { fromRecord, type Row } from "../records/row.ts";
import { levels, sourceOf } from "./lineage/levels.ts";
import { ownRow } from "./lineage/own-rows.ts";
import { renew } from "./lineage/renew.ts";

/**
 * The generation of a thread's own view. A thread shows the rows of its own tape and, if it was forked or copied, the
 * rows its origin showed then: a fork sees its source as of the generation it was forked at.
 */
export const NOW: number = Number.POSITIVE_INFINITY;

/** A row as a thread shows it: replaced and relabelled, with the change that replaced it. */
export interface Shown extends Row {
  readonly replacedBy?: Delta;
}

/** Returns the tape that physically holds the row with this seq, as seen from `tape`. */
export async function homeOf(context: EngineContext, tape: Tape, seq: number): Promise<Tape> {
  let home = tape;
  while (home.meta.origin && seq <= home.meta.origin.upTo) home = await sourceOf(context, home, home.meta.origin);
  return home;
}

/** Returns the row with this seq as a view of `tape` shows it, whether or not a fork's history includes it. */
export async function rowAt(
  context: EngineContext,
  tape: Tape,
  seq: number,
  generation: number = NOW,
): Promise<Shown | undefined> {
  let level = tape;
  let seen = generation;
  let label: string | undefined;
  let replaced: Shown | undefined;
  for (;;) {
    if (level.isGone(seq, seen)) return undefined;
    // Marks of nearer tapes win: deeper ones only count where those leave the row or its label open.
    if (!replaced) {
      const mark = markAt(level, seq, seen);
      replaced = mark?.row;
      label ??= mark?.label;
    }
    const { origin } = level.meta;
    if (!origin || seq > origin.upTo) break;
    if (origin.mode === "none") return undefined;
    seen = origin.generation;
    level = await sourceOf(context, level, origin);
  }
  const row = replaced ?? (await ownRow(context, level, seq));
  return row && label !== undefined ? { ...row, label } : row;
}

/**
 * Returns the replacement and the label that a tape's own marks give a row up to a generation. A replacement ends
 * earlier labels.
 */
function markAt(
  tape: Tape,
  seq: number,
  generation: number,
): { row: Shown | undefined; label: string | undefined } | undefined {
  const versions = tape.marks.get(seq);
  if (!versions) return undefined;
  let row: Shown | undefined;
  let label: string | undefined;
  for (const version of versions) {
    if (version.generation > generation) break;
    if (version.row) {
      row = { ...fromRecord(seq, version.row), replacedBy: version.change as Delta };
      label = undefined;
    }
    if (version.label !== undefined) label = version.label;
  }
  return { row, label };
}

/** Returns the parent a row has in this view: the nearest ancestor that was not deleted. */
export async function parentOf(
  context: EngineContext,
  tape: Tape,
  row: Row,
  generation: number = NOW,
): Promise<Shown | undefined> {
  let seq = row.parent;
  let renewed = false;
  while (seq !== 0 && !tape.isGoneUpTo(seq, generation) && !(await isHidden(context, tape, seq))) {
    const parent = await rowAt(context, tape, seq, generation);
    if (parent) return parent;
    const home = await homeOf(context, tape, seq);
    const physical = await ownRow(context, home, seq);
    if (physical || renewed) seq = physical?.parent ?? 0;
    else {
      // A compaction has removed the parent since the row was read; the row names another one now.
      renewed = true;
      await renew(context, tape);
      seq = (await rowAt(context, tape, row.seq, generation))?.parent ?? 0;
    }
  }
  return undefined;
}

/** Tells whether a fork without history lies between: then nothing that old is shown. */
async function isHidden(context: EngineContext, tape: Tape, seq: number): Promise<boolean> {
  for await (const { tape: level } of levels(context, tape, seq)) {
    const { origin } = level.meta;
    if (origin?.mode === "none" && seq <= origin.upTo) return true;
  }
  return false;
}

/** Tells whether a tape shows its own rows as they are, which is the common case: no marks, nothing deleted. */
export function isPlain(tape: Tape): boolean {
  return tape.marks.size === 0 && !tape.meta.gone;
}
