import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { changesBetween } from "../../../src/model/changes.ts";

it("a comparison lists what was added, removed and changed, by path", () => {
  const before = { a: 1, list: [{ x: 1 }, { x: 2 }, { x: 3 }], gone: true, same: { deep: [1] } };
  const after = { a: 2, list: [{ x: 1 }, { x: 9 }, { x: 2 }, { x: 3 }], same: { deep: [1] }, fresh: "f" };
  expect(changesBetween(before, after, isDeepStrictEqual)).toEqual([
    { path: ["a"], kind: "changed", before: 1, after: 2 },
    { path: ["list", 1], kind: "added", after: { x: 9 } },
    { path: ["gone"], kind: "removed", before: true },
    { path: ["fresh"], kind: "added", after: "f" },
  ]);
});

it("enters elements that changed, and compares other things whole", () => {
  const changes = changesBetween(
    { l: [{ a: 1, d: new Date(1) }] },
    { l: [{ a: 1, d: new Date(2) }] },
    isDeepStrictEqual,
  );
  expect(changes).toEqual([{ path: ["l", 0, "d"], kind: "changed", before: new Date(1), after: new Date(2) }]);
});

it("a comparison of equal values lists nothing", () => {
  expect(changesBetween({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, isDeepStrictEqual)).toEqual([]);
});
