import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Tape } from "../../../../src/engine/memory/tape.ts";
import { encodeMeta, type Meta, newMeta } from "../../../../src/engine/records/meta.ts";
import { fromRecord, type Row } from "../../../../src/engine/records/row.ts";
import { goneAfter } from "../../../../src/engine/removal/hidden-rows.ts";
import { NOW } from "../../../../src/engine/view/row-at.ts";

const rowOf = (seq: number): Row => fromRecord(seq, { id: `${seq}`, step: seq, createdAt: 0 });

function tapeWith(gone: Meta["gone"], generation: number): Tape {
  const meta: Meta = { ...newMeta("t", 0, 0), generation, ...(gone && { gone }) };
  return new Tape(7, 7, encodeMeta(meta));
}

describe("goneAfter", () => {
  it("rows that are hidden one after the other make one range, which begins at the first seq", () => {
    let gone: Meta["gone"];
    for (let oldest = 1; oldest <= 5; oldest += 1) {
      const own = Array.from({ length: 9 }, (_, index) => rowOf(index + 1));
      const left = own.map(({ seq }) => seq).filter((seq) => seq > oldest);
      gone = goneAfter(tapeWith(gone, oldest), { hidden: [rowOf(oldest)], left, own, doomed: new Set(), shared: 0 });
    }
    expect(gone).toEqual([[1, 5, 6]]);
  });

  it("a range that a fork may see keeps its generation", () => {
    const own = [1, 2, 3, 4].map(rowOf);
    const hides = { hidden: [rowOf(2), rowOf(4)], left: [3], own, doomed: new Set<number>(), shared: 2 };
    expect(goneAfter(tapeWith([[1, 1, 1]], 5), hides)).toEqual([
      [1, 1, 1],
      [2, 2, 6],
      [4, 4, 6],
    ]);
  });

  it("names no range once all hidden rows are taken out of storage", () => {
    const own = [1, 2, 3].map(rowOf);
    const hides = { hidden: [], left: [3], own, doomed: new Set([1, 2]), shared: 0 };
    expect(goneAfter(tapeWith([[1, 1, 1]], 1), hides)).toBeUndefined();
  });

  it("hides every row that is hidden and none that is left, whatever was hidden before", () => {
    const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(seqs, fc.func(fc.constantFrom("before", "now", "left")), fc.nat(30), (numbers, fateOf, shared) => {
        const own = numbers.sort((one, other) => one - other).map(rowOf);
        const withFate = (fate: string): Row[] => own.filter(({ seq }) => fateOf(seq) === fate);
        const before = withFate("before").map(({ seq }) => [seq, seq, 1] as const);
        const left = withFate("left").map(({ seq }) => seq);
        const gone = goneAfter(tapeWith(before.length > 0 ? before : undefined, 3), {
          ...{ hidden: withFate("now"), left, own, doomed: new Set<number>(), shared },
        });
        const after = tapeWith(gone, 4);
        for (const { seq } of own) expect(after.isGone(seq, NOW)).toBe(fateOf(seq) !== "left");
        // A fork of generation 3 sees what was hidden since.
        for (const { seq } of own) {
          if (seq <= shared) expect(after.isGone(seq, 3)).toBe(fateOf(seq) === "before");
        }
      }),
    );
  });
});
