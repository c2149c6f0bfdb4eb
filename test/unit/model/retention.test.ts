import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Prunable, prunedSeqs, type Retention, rangesOf } from "../../../src/model/retention/retention.ts";

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

const rowsNewestFirst = fc
  .array(
    fc.record({
      namespace: fc.constantFrom("", "a", "b"),
      label: fc.constantFrom("", "", "kept"),
      createdAt: fc.integer({ min: 0, max: 20 }),
      back: fc.integer({ min: 1, max: 5 }),
    }),
    { maxLength: 20 },
  )
  .map((drawn) =>
    drawn
      .map(({ back, ...fields }, index) => row(index + 1, { ...fields, parent: Math.max(0, index + 1 - back) }))
      .reverse(),
  );

const anyRetention = fc.record({
  keepLast: fc.nat({ max: 6 }),
  youngerThan: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
  keepLabelled: fc.boolean(),
  protectAncestors: fc.boolean(),
});

/** Returns the seqs that stay, by the definition: the newest, the young, the labelled, and all ancestors of those. */
function keptByDefinition(rows: readonly Prunable[], rule: Retention): Set<number> {
  const kept = rows.filter(({ seq, namespace, createdAt, label }) => {
    const newer = rows.filter((other) => other.namespace === namespace && other.seq > seq).length;
    const young = rule.youngerThan !== undefined && createdAt > rule.youngerThan;
    return newer < Math.max(1, rule.keepLast) || young || (rule.keepLabelled && label !== "");
  });
  const seqs = new Set(kept.map(({ seq }) => seq));
  if (!rule.protectAncestors) return seqs;
  for (const { seq, parent } of rows) if (seqs.has(seq) && parent !== 0) seqs.add(parent);
  return seqs;
}

it("a prune removes exactly the checkpoints that no rule keeps, for any history and any rules", () => {
  fc.assert(
    fc.property(rowsNewestFirst, anyRetention, (rows, rule) => {
      const kept = keptByDefinition(rows, rule);
      const gone = rows.map(({ seq }) => seq).filter((seq) => !kept.has(seq));
      expect(prunedSeqs(rows, rule)).toEqual(new Set(gone));
    }),
  );
});

it("a prune never removes the newest checkpoint of a namespace, and a second prune finds nothing to remove", () => {
  fc.assert(
    fc.property(rowsNewestFirst, anyRetention, (rows, rule) => {
      const pruned = prunedSeqs(rows, rule);
      for (const { namespace } of rows) {
        expect(pruned.has(rows.find((one) => one.namespace === namespace)?.seq ?? 0)).toBe(false);
      }
      const left = rows.filter(({ seq }) => !pruned.has(seq));
      expect(prunedSeqs(left, rule)).toEqual(new Set());
    }),
  );
});

describe("ranges", () => {
  it("ranges cover exactly the seqs that go, whatever lies between them", () => {
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
