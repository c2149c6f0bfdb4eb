import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Prunable, prunedSeqs, rangesOf } from "../../../src/model/retention.ts";

const options = { keepLast: 1, youngerThan: undefined, keepLabelled: false, protectAncestors: false };

function row(seq: number, fields: Partial<Prunable> = {}): Prunable {
  return { seq, namespace: "", parent: seq - 1, label: "", createdAt: seq, ...fields };
}

describe("what a prune removes", () => {
  it("a prune keeps the newest of each namespace, and counts 0 as 1", () => {
    const rows = [row(4, { namespace: "a" }), row(3), row(2, { namespace: "a" }), row(1)];
    expect(prunedSeqs(rows, { ...options, keepLast: 0 })).toEqual(new Set([2, 1]));
  });

  it("a prune keeps young and labelled checkpoints, if asked", () => {
    const rows = [row(4), row(3), row(2, { label: "x" }), row(1)];
    expect(prunedSeqs(rows, { ...options, youngerThan: 2.5, keepLabelled: true })).toEqual(new Set([1]));
    // `youngerThan` spares rows made after that time, not at it.
    expect(prunedSeqs(rows, { ...options, youngerThan: 3, keepLabelled: true })).toEqual(new Set([1, 3]));
  });

  it("a prune protects every ancestor of what stays, and nothing else", () => {
    const rows = [row(4, { parent: 3 }), row(3, { parent: 1 }), row(2, { parent: 1 }), row(1, { parent: 0 })];
    expect(prunedSeqs(rows, { ...options, protectAncestors: true })).toEqual(new Set([2]));
  });
});

describe("ranges", () => {
  it("cover exactly the seqs that go, whatever lies between them", () => {
    const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 60 })).map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(seqs, fc.func(fc.boolean()), (all, goes) => {
        const some = new Set(all.filter((seq) => goes(seq)));
        const ranges = rangesOf(some, all);
        for (const seq of all) {
          expect(ranges.some(([from, to]) => seq >= from && seq <= to)).toBe(some.has(seq));
        }
      }),
    );
  });
});
