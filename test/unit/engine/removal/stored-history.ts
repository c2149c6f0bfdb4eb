import fc from "fast-check";
import { apply, diff, isReplacement, replacedBy, replacement } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import type { Frame } from "../../../../src/engine/records/pack/pack.ts";
import { fromRecord, type Row } from "../../../../src/engine/records/row.ts";
import type { ReachableRows } from "../../../../src/engine/removal/nearest-remaining.ts";
import { type ChangedFrames, type ReachableFrames, Rebasing } from "../../../../src/engine/removal/rebase.ts";
import { textOf } from "../../../support/texts.ts";
import { histories } from "../../codec/delta/trees.ts";

/** A row of a history, with the state that it must show before and after any removal. */
export interface Planned {
  readonly seq: number;
  readonly parent: number;
  readonly tree: Json;
  readonly full?: boolean;
  readonly fields?: Partial<Row>;
}

export function rowOf(seq: number, fields: Partial<Row> = {}): Row {
  return { ...fromRecord(seq, { id: `id-${seq}`, step: seq, createdAt: 1_000 + seq }), ...fields };
}

/** The frames of a history in a map, and the seqs that a removal takes. Counts how often each tree is built. */
export class StoredHistory implements ReachableRows, ReachableFrames {
  readonly frames: ReadonlyMap<number, Frame>;
  readonly removed: ReadonlySet<number>;
  readonly weight: number;
  readonly built: number[] = [];

  constructor(frames: readonly Frame[], removed: Iterable<number> = [], weight = 0) {
    this.frames = new Map(frames.map((frame) => [frame.row.seq, frame]));
    this.removed = new Set(removed);
    this.weight = weight;
  }

  /** Commits rows as a thread does: each frame is a delta against the frame of its parent, or a full one. */
  static of(rows: readonly Planned[], removed: Iterable<number> = [], weight = 0): StoredHistory {
    const trees = new Map(rows.map(({ seq, tree }) => [seq, tree]));
    const frames = rows.map(({ seq, parent, tree, full, fields }) => {
      const before = full ? undefined : trees.get(parent);
      const change = before === undefined ? replacement(tree) : (diff(before, tree) ?? {});
      return { row: rowOf(seq, { ...fields, parent, base: parent }), change };
    });
    return new StoredHistory(frames, removed, weight);
  }

  async isRemoved(seq: number): Promise<boolean> {
    return this.removed.has(seq);
  }

  async row(seq: number): Promise<Row | undefined> {
    return this.frames.get(seq)?.row;
  }

  async frame(seq: number): Promise<Frame> {
    return this.at(seq);
  }

  async tree(seq: number): Promise<{ tree: Json; tagged: boolean; weight: number }> {
    this.built.push(seq);
    return { ...this.read(seq), weight: this.weight };
  }

  at(seq: number): Frame {
    const frame = this.frames.get(seq);
    if (!frame) throw new Error(`There is no frame ${seq}.`);
    return frame;
  }

  /** Builds the tree of a frame from the full frame that its bases lead to. */
  read(seq: number): { tree: Json; tagged: boolean } {
    const { row, change } = this.at(seq);
    if (isReplacement(change)) return { tree: replacedBy(change), tagged: row.tagged };
    const base = this.read(row.base);
    return { tree: apply(base.tree, change), tagged: base.tagged || row.tagged };
  }

  /** Returns the rows that stay, rebased in ascending order. */
  async rebased(changed: ChangedFrames = new Map()): Promise<StoredHistory> {
    const rebasing = new Rebasing(this, this, changed);
    const frames: Frame[] = [];
    for (const [seq, { row }] of this.frames) if (!this.removed.has(seq)) frames.push(await rebasing.rebased(row));
    return new StoredHistory(frames);
  }

  /** Returns this history with other rows to remove. */
  without(removed: Iterable<number>): StoredHistory {
    return new StoredHistory([...this.frames.values()], removed, this.weight);
  }
}

/**
 * Histories with branches, several roots, gaps between seqs, full frames and tagged values. Rows that add a large text hand
 * it on to their children, so that siblings often have more in common with each other than with what remains before them.
 */
export const plannedRows: fc.Arbitrary<readonly Planned[]> = histories(2, 14).chain((trees) =>
  fc
    .array(
      fc.record({
        gap: fc.integer({ min: 1, max: 3 }),
        back: fc.integer({ min: 1, max: 5 }),
        adds: fc.boolean(),
        full: fc.nat(9).map((drawn) => drawn === 0),
        tagged: fc.nat(4).map((drawn) => drawn === 0),
        label: fc.constantFrom("", "best"),
      }),
      { minLength: trees.length, maxLength: trees.length },
    )
    .map((draws) => {
      const rows: Planned[] = [];
      const added: (readonly string[])[] = [];
      for (const [index, { gap, back, adds, full, tagged, label }] of draws.entries()) {
        const seq = (rows.at(-1)?.seq ?? 0) + gap;
        const parent = rows[index - back]?.seq ?? 0;
        const texts = [...(added[index - back] ?? []), ...(adds ? [textOf(seq, 600)] : [])];
        added.push(texts);
        rows.push({ seq, parent, tree: { texts, state: trees[index] as Json }, full, fields: { tagged, label } });
      }
      return rows;
    }),
);

/** Decides row by row which ones a removal takes. */
export const removals: fc.Arbitrary<readonly boolean[]> = fc.array(fc.boolean(), { minLength: 14, maxLength: 14 });
