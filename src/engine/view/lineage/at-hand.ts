import { lowerBound } from "../../../model/seq.ts";
import type { LoadedPack, Tape } from "../../memory/tape.ts";
import type { Row } from "../../records/row.ts";
import type { TailRow } from "../../records/tail.ts";

/** Returns a physical row of this very tape, if it is in memory. */
export function ownRowAtHand(tape: Tape, seq: number): Row | undefined {
  return tape.tailRow(seq)?.row ?? packRow(tape.loadedPack(seq), seq);
}

export function packRow(pack: LoadedPack | undefined, seq: number): Row | undefined {
  if (!pack) return undefined;
  const row = pack.rows[lowerBound(pack.rows, seq, (entry) => entry.seq)];
  return row?.seq === seq ? row : undefined;
}

/**
 * Returns the newest rows of one tape below `before` that pass, from memory: up to `count`, or undefined where others
 * would have to be read.
 */
export function rowsAtHand(
  tape: Tape,
  before: number,
  count: number,
  passes: (row: Row) => boolean,
): readonly Row[] | undefined {
  const { tail, damaged, meta } = tape;
  if (damaged.length > 0) return undefined;
  const rows: Row[] = [];
  for (let index = lowerBound(tail, before, ({ row }) => row.seq) - 1; index >= 0; index -= 1) {
    const { row } = tail[index] as TailRow;
    if (passes(row) && rows.push(row) === count) return rows;
  }
  let next = Math.min(before, meta.sealed + 1);
  while (next > (meta.origin?.upTo ?? 0) + 1) {
    const pack = tape.loadedPack(next - 1);
    if (!pack) return undefined;
    for (let index = lowerBound(pack.rows, next, ({ seq }) => seq) - 1; index >= 0; index -= 1) {
      const row = pack.rows[index] as Row;
      if (passes(row) && rows.push(row) === count) return rows;
    }
    next = (pack.rows[0] as Row).seq;
  }
  return meta.origin ? undefined : rows;
}
