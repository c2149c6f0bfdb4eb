import { describe, expect, it } from "vitest";
import { isReplacement, replacement, sizeOf } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { textOf } from "../../../support/texts.ts";
import { type Planned, rowOf, StoredHistory } from "./stored-history.ts";

/** Returns a state with a part that is large, and unlike that of any other `n`. */
function state(n: number, note: string): Json {
  return { common: "a", note, large: textOf(n, 3_000) };
}

function bytesAt(history: StoredHistory, seq: number): number {
  return sizeOf(history.at(seq).change as Json, Number.POSITIVE_INFINITY);
}

function basesOf(history: StoredHistory): readonly (readonly [seq: number, base: number])[] {
  return [...history.frames].map(([seq, { row }]) => [seq, row.base]);
}

describe("a row whose base is removed", () => {
  it("a row takes over the changes of all removed rows between it and its nearest remaining ancestor", async () => {
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: { a: 0, b: 0, c: 0, rest: textOf(0, 500) } },
      { seq: 2, parent: 1, tree: { a: 1, b: 0, c: 0, rest: textOf(0, 500) } },
      { seq: 3, parent: 2, tree: { a: 1, b: 2, c: 0, rest: textOf(0, 500) }, fields: { tagged: true } },
      { seq: 4, parent: 3, tree: { a: 1, b: 2, c: 3, rest: textOf(0, 500) }, fields: { label: "best" } },
    ];
    const after = await StoredHistory.of(rows, [2, 3]).rebased();
    expect(after.at(4).row).toEqual(rowOf(4, { parent: 1, base: 1, label: "best", tagged: true }));
    expect(isReplacement(after.at(4).change)).toBe(false);
    expect(after.read(4).tree).toEqual(rows[3]?.tree);
  });

  it("a row that no ancestor is left for becomes a root with a full frame", async () => {
    const rows = [1, 2, 3].map((seq) => ({ seq, parent: seq - 1, tree: state(0, `${seq}`) }));
    const after = await StoredHistory.of(rows, [1, 2]).rebased();
    expect(after.at(3)).toEqual({ row: rowOf(3), change: replacement(state(0, "3")) });
  });

  it("a full frame only gets another parent", async () => {
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: state(1, "first") },
      { seq: 2, parent: 1, tree: state(2, "second") },
      { seq: 3, parent: 2, tree: state(2, "third"), full: true },
    ];
    const before = StoredHistory.of(rows, [2]);
    const after = await before.rebased();
    expect(after.at(3).row).toEqual(rowOf(3, { parent: 1, base: 1 }));
    expect(after.at(3).change).toBe(before.at(3).change);
    expect(before.built).toEqual([]);
  });
});

describe("siblings on a removed base", () => {
  it("branches of a removed root become one full frame and small deltas of it", async () => {
    const branches = [2, 3, 4, 5].map((seq) => ({ seq, parent: 1, tree: state(1, `branch ${seq}`) }));
    const before = StoredHistory.of([{ seq: 1, parent: 0, tree: state(1, "root") }, ...branches], [1]);
    const after = await before.rebased();
    expect([...after.frames.values()].map(({ change }) => isReplacement(change))).toEqual([true, false, false, false]);
    expect(basesOf(after)).toEqual([2, 3, 4, 5].map((seq) => [seq, seq === 2 ? 0 : 2]));
    expect([...after.frames.values()].map(({ row }) => row.parent)).toEqual([0, 0, 0, 0]);
    for (const seq of [3, 4, 5]) expect(bytesAt(after, seq)).toBeLessThan(200);
    // The first is read twice: to become a full frame, and once for all its siblings.
    expect(before.built.filter((seq) => seq === 2)).toHaveLength(2);
  });

  it("the first branch takes over a large removed change, and the others build on it but keep their parent", async () => {
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: { common: "a" } },
      { seq: 2, parent: 1, tree: { common: "a", list: [textOf(2, 3_000)] } },
      ...[3, 4, 5].map((seq) => ({ seq, parent: 2, tree: { common: "a", list: [textOf(2, 3_000), seq] } })),
    ];
    const after = await StoredHistory.of(rows, [2]).rebased();
    expect([...after.frames.values()].map(({ row }) => row.parent)).toEqual([0, 1, 1, 1]);
    expect(basesOf(after).slice(2)).toEqual([
      [4, 3],
      [5, 3],
    ]);
  });

  it("a branch whose own change is about as large as the composed one is not stored as a delta of its sibling", async () => {
    const base = { common: textOf(0, 3_000), a: 0, b: 0 };
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: base },
      { seq: 2, parent: 1, tree: { ...base, a: 1 } },
      { seq: 3, parent: 2, tree: { ...base, a: 1, b: 1 } },
      { seq: 4, parent: 2, tree: { ...base, a: 1, b: 2 } },
    ];
    const before = StoredHistory.of(rows, [2]);
    expect(basesOf(await before.rebased())).toEqual([
      [1, 0],
      [3, 1],
      [4, 1],
    ]);
    expect(before.built).toEqual([]);
  });

  it("a branch that shares more with a later sibling builds on that one", async () => {
    const pair = (left: number, right: number, note: string): Json => ({
      left: textOf(left, 3_000),
      right: textOf(right, 3_000),
      note,
    });
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: pair(1, 1, "root") },
      { seq: 2, parent: 1, tree: pair(1, 2, "first") },
      { seq: 3, parent: 1, tree: pair(3, 1, "second") },
      { seq: 4, parent: 1, tree: pair(1, 1, "third") },
      { seq: 5, parent: 1, tree: pair(1, 1, "fourth") },
    ];
    const after = await StoredHistory.of(rows, [1]).rebased();
    expect(basesOf(after).at(-1)).toEqual([5, 4]);
    expect(bytesAt(after, 5)).toBeLessThan(200);
  });

  it("a branch that is smallest as a full frame builds on no sibling", async () => {
    const keys = (from: number, to: number): Json =>
      Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`a key ${from + index}`, index + from]));
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: keys(100, 200) },
      { seq: 2, parent: 1, tree: keys(150, 200) },
      { seq: 3, parent: 2, tree: keys(150, 180) },
      { seq: 4, parent: 2, tree: keys(170, 200) },
    ];
    const before = StoredHistory.of(rows, [2]);
    expect(isReplacement(before.at(4).change)).toBe(false);
    const after = await before.rebased();
    expect(after.at(4)).toEqual({ row: rowOf(4, { parent: 1, base: 1 }), change: replacement(keys(170, 200)) });
  });

  it("branches from different removed rows of one line share the change of the row they have in common", async () => {
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: state(1, "root") },
      { seq: 2, parent: 1, tree: state(1, "middle") },
      { seq: 3, parent: 2, tree: state(1, "from the middle") },
      { seq: 4, parent: 1, tree: state(1, "from the root") },
    ];
    const after = await StoredHistory.of(rows, [1, 2]).rebased();
    expect(basesOf(after)).toEqual([
      [3, 0],
      [4, 3],
    ]);
  });

  it("rows of another removed line are no siblings", async () => {
    const rows: Planned[] = [
      { seq: 1, parent: 0, tree: state(1, "root") },
      { seq: 2, parent: 0, tree: state(1, "another root") },
      { seq: 3, parent: 1, tree: state(1, "branch") },
      { seq: 4, parent: 2, tree: state(1, "another branch") },
    ];
    expect(basesOf(await StoredHistory.of(rows, [1, 2]).rebased())).toEqual([
      [3, 0],
      [4, 0],
    ]);
  });
});

describe("the bounds on the siblings that a row is compared with", () => {
  /** Branches of a removed root that each lack another of its parts: none is a small change of another. */
  function lacking(...parts: readonly number[]): readonly Planned[] {
    const whole = Object.fromEntries(Array.from({ length: 20 }, (_, part) => [`part ${part}`, textOf(part, 1_000)]));
    const branches = parts.map((part, index) => {
      const { [`part ${part}`]: _lacks, ...tree } = whole;
      return { seq: index + 2, parent: 1, tree: { ...tree, note: `${index}` } };
    });
    return [{ seq: 1, parent: 0, tree: whole }, ...branches];
  }

  it("a row is compared with at most 16 siblings, the earliest ones", async () => {
    const parts = Array.from({ length: 17 }, (_, part) => part);
    const [sixteenth, seventeenth] = [17, 18];
    const like = await StoredHistory.of(lacking(...parts, 15), [1]).rebased();
    expect(like.at(19).row.base).toBe(sixteenth);
    const unlike = await StoredHistory.of(lacking(...parts, 16), [1]).rebased();
    expect(unlike.at(19).row.base).toBeLessThan(seventeenth);
    expect(unlike.read(19).tree).toEqual({ ...(unlike.read(18).tree as object), note: "17" });
  });

  it("no further siblings are remembered once the trees of the others take 32 MiB", async () => {
    const rows = lacking(0, 1, 1);
    const light = await StoredHistory.of(rows, [1], 1_000).rebased();
    expect(light.at(4).row.base).toBe(3);
    const heavy = await StoredHistory.of(rows, [1], 32 * 1024 * 1024).rebased();
    expect(heavy.at(4).row.base).toBe(2);
  });
});

describe("a frame that a replacement is folded into", () => {
  const rows: Planned[] = [
    { seq: 1, parent: 0, tree: state(1, "root") },
    { seq: 2, parent: 1, tree: state(1, "removed") },
    { seq: 3, parent: 2, tree: state(1, "replaced"), fields: { label: "old", node: "plan", metadata: { a: 1 } } },
  ];
  const change = replacement({ note: "folded" });

  it("a folded frame gets the given change on its nearest remaining ancestor", async () => {
    const changed = new Map([[3, { change, replaced: false, unlabelled: false }]]);
    const after = await StoredHistory.of(rows, [2]).rebased(changed);
    const row = rowOf(3, { parent: 1, base: 1, tagged: true, label: "old", node: "plan", metadata: { a: 1 } });
    expect(after.at(3)).toEqual({ row, change });
  });

  it("a row that every thread shows replaced keeps only its id, namespace, step and time", async () => {
    const changed = new Map([[3, { change, replaced: true, unlabelled: false }]]);
    const after = await StoredHistory.of(rows, [2]).rebased(changed);
    expect(after.at(3)).toEqual({ row: rowOf(3, { parent: 1, base: 1, tagged: true }), change });
  });

  it("a row that every thread shows with another label loses its own and is otherwise rebased as usual", async () => {
    const changed = new Map([[3, { change: undefined, replaced: false, unlabelled: true }]]);
    const after = await StoredHistory.of(rows, [2]).rebased(changed);
    expect(after.at(3).row).toEqual(rowOf(3, { parent: 1, base: 1, node: "plan", metadata: { a: 1 } }));
    expect(after.read(3).tree).toEqual(rows[2]?.tree);
  });
});
