import fc from "fast-check";
import { expect, it } from "vitest";
import { compose, type Delta, isReplacement, replacement, sizeOf } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { type Planned, plannedRows, removals, StoredHistory } from "./stored-history.ts";

/** Returns the first seq from `seq` on that stays, by the definition: step by step through what came before each row. */
function remainingByDefinition(seq: number, removed: ReadonlySet<number>, before: (seq: number) => number): number {
  return removed.has(seq) ? remainingByDefinition(before(seq), removed, before) : seq;
}

/** Returns the change that a frame needs if it shares nothing with its siblings. */
function aloneByDefinition(history: StoredHistory, seq: number): Delta {
  let { row, change } = history.at(seq);
  while (!isReplacement(change) && history.removed.has(row.base)) {
    const base = history.at(row.base);
    change = compose(base.change, change);
    row = base.row;
  }
  return isReplacement(change) ? replacement(history.read(seq).tree) : change;
}

function bytesOf(change: Delta): number {
  return sizeOf(change as Json, Number.POSITIVE_INFINITY);
}

function chosen(history: StoredHistory, decisions: readonly boolean[]): readonly number[] {
  return [...history.frames.keys()].filter((_seq, index) => decisions[index]);
}

/** Removes rows twice, so that the second removal meets frames that already build on a sibling. */
async function twice(
  rows: readonly Planned[],
  first: readonly boolean[],
  second: readonly boolean[],
  check: (before: StoredHistory, after: StoredHistory) => void,
): Promise<void> {
  let before = StoredHistory.of(rows);
  for (const decisions of [first, second]) {
    before = before.without(chosen(before, decisions));
    const after = await before.rebased();
    check(before, after);
    before = after;
  }
}

it("after any removals every remaining row shows the state it showed before", async () => {
  await fc.assert(
    fc.asyncProperty(plannedRows, removals, removals, async (rows, first, second) => {
      const trees = new Map(rows.map(({ seq, tree }) => [seq, tree]));
      await twice(rows, first, second, (before, after) => {
        expect([...after.frames.keys()]).toEqual([...before.frames.keys()].filter((seq) => !before.removed.has(seq)));
        for (const seq of after.frames.keys()) {
          const { tree, tagged } = after.read(seq);
          // Keys must keep their order, which toEqual does not compare.
          expect(JSON.stringify(tree)).toBe(JSON.stringify(trees.get(seq)));
          expect(tagged || !before.read(seq).tagged).toBe(true);
        }
      });
    }),
  );
});

it("after any removals the parent of a row is its nearest remaining ancestor, and its base is an earlier remaining row", async () => {
  await fc.assert(
    fc.asyncProperty(plannedRows, removals, removals, async (rows, first, second) => {
      await twice(rows, first, second, (before, after) => {
        for (const [seq, { row, change }] of after.frames) {
          const old = before.at(seq).row;
          const parent = remainingByDefinition(old.parent, before.removed, (from) => before.at(from).row.parent);
          const { base, tagged } = row;
          expect(row).toEqual({ ...old, parent, base, tagged });
          expect(base === 0 || after.frames.has(base)).toBe(true);
          expect(base).toBeLessThan(seq);
          if (isReplacement(change)) expect(base).toBe(parent);
        }
      });
    }),
  );
});

it("a frame whose base stays keeps its change for any removal", async () => {
  await fc.assert(
    fc.asyncProperty(plannedRows, removals, removals, async (rows, first, second) => {
      await twice(rows, first, second, (before, after) => {
        for (const [seq, { row, change }] of after.frames) {
          const old = before.at(seq);
          if (before.removed.has(old.row.base) && !isReplacement(old.change)) continue;
          expect(change).toBe(old.change);
          if (!before.removed.has(old.row.parent)) expect(row).toEqual(old.row);
        }
      });
    }),
  );
});

it("a rebased frame is never larger than its change composed with the removed ones, for any removal", async () => {
  await fc.assert(
    fc.asyncProperty(plannedRows, removals, removals, async (rows, first, second) => {
      await twice(rows, first, second, (before, after) => {
        for (const [seq, { change }] of after.frames) {
          expect(bytesOf(change)).toBeLessThanOrEqual(bytesOf(aloneByDefinition(before, seq)));
        }
      });
    }),
  );
});
