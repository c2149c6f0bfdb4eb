import { expect, test } from "vitest";
import { RecentMap } from "../../../src/platform/recent-map.ts";

test("a recent map forgets the entries that were set longest ago", () => {
  const map = new RecentMap<string, number>(2);
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const)
    map.set(key, value);
  expect(["a", "b", "c"].map((key) => map.get(key))).toEqual([3, undefined, 4]);
});

test("a recent map keeps the entries that were not deleted, and none once it is cleared", () => {
  const map = new RecentMap<string, number>(3);
  for (const key of ["a", "b"]) map.set(key, 1);
  map.delete("a");
  expect([map.get("a"), map.get("b")]).toEqual([undefined, 1]);
  map.clear();
  expect(map.get("b")).toBeUndefined();
});
