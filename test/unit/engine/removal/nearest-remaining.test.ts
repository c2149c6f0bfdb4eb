import { describe, expect, it } from "vitest";
import type { MarkVersion } from "../../../../src/engine/records/marks.ts";
import { nearestRemaining, rebasedVersions, removedBases } from "../../../../src/engine/removal/nearest-remaining.ts";
import { rowOf, StoredHistory } from "./stored-history.ts";

/** Parents lead 5 → 4 → 2 → 1; row 5 is stored as a delta of row 3 and row 3 of row 1. */
const frames = [
  rowOf(1),
  rowOf(2, { parent: 1, base: 1 }),
  rowOf(3, { parent: 1, base: 1 }),
  rowOf(4, { parent: 2, base: 2 }),
  rowOf(5, { parent: 4, base: 3 }),
].map((row) => ({ row, change: {} }));

function without(...removed: number[]): StoredHistory {
  return new StoredHistory(frames, removed);
}

describe("the nearest row that stays", () => {
  it("a row that stays is its own nearest", async () => {
    expect(await nearestRemaining(without(4), 2)).toBe(2);
    expect(await removedBases(without(4), 2)).toEqual({ gone: [], first: 2 });
  });

  it("parents are followed through removed rows only", async () => {
    expect(await nearestRemaining(without(1, 5, 4), 5)).toBe(2);
    expect(await nearestRemaining(without(1, 2, 4), 4)).toBe(0);
    expect(await nearestRemaining(without(1), 0)).toBe(0);
  });

  it("bases are followed apart from parents, and the removed ones come nearest first", async () => {
    expect(await removedBases(without(5, 3), 5)).toEqual({ gone: [5, 3], first: 1 });
    expect(await removedBases(without(1, 5, 3), 5)).toEqual({ gone: [5, 3, 1], first: 0 });
  });

  it("a removed row that is not there ends the line", async () => {
    expect(await removedBases(without(9), 9)).toEqual({ gone: [9], first: 0 });
  });
});

describe("the versions of a mark after a removal", () => {
  const version = (parent: number): MarkVersion => ({
    generation: 1,
    row: { id: "id", step: 1, createdAt: 1, ...(parent !== 0 && { parent }) },
    change: {},
  });
  const label: MarkVersion = { generation: 2, label: "best" };

  it("versions whose parents stay are given back as the same array", async () => {
    const versions = [version(2), label, version(0)];
    expect(await rebasedVersions(without(4), versions)).toBe(versions);
  });

  it("a version whose parent is removed names the nearest remaining ancestor, and the others stay the same", async () => {
    const versions = [version(4), label, version(1)];
    const rebased = await rebasedVersions(without(4, 2), versions);
    expect(rebased).toEqual([version(1), label, version(1)]);
    expect(rebased[1]).toBe(label);
    expect(await rebasedVersions(without(4, 2, 1), [version(4)])).toEqual([version(0)]);
  });
});
