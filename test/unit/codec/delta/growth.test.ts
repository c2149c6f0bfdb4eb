import fc from "fast-check";
import { expect, test } from "vitest";
import { type Delta, diff, Growth, growthOf, sizeOf } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { histories, trees } from "./trees.ts";

const whole = (tree: Json): number => sizeOf(tree, Number.POSITIVE_INFINITY);

/** Counts the containers of a tree: each may be off by the comma that its first element lacks. */
function containers(tree: Json): number {
  if (typeof tree !== "object" || tree === null) return 0;
  return Object.values(tree).reduce<number>((sum, part) => sum + containers(part as Json), 1);
}

test("the growth of a delta is the difference of the trees' sizes, whatever the delta is", () => {
  fc.assert(
    fc.property(fc.oneof(histories(2, 2), fc.tuple(trees, trees)), (pair) => {
      const [before, after] = pair as [Json, Json];
      const delta: Delta = diff(before, after) ?? {};
      const difference = whole(after) - whole(before);
      const tolerance = containers(before) + containers(after);
      expect(Math.abs(growthOf(delta, before) - difference)).toBeLessThanOrEqual(tolerance);
    }),
  );
});

test("the growth of an append is found without a look at the list", () => {
  const list = new Proxy([] as Json[], {
    get: () => {
      throw new Error("looked at");
    },
  });
  expect(growthOf({ d: { list: { p: ["four"] } } }, { list })).toBe(7);
});

test("a large value counts as the smallest one, whether it comes or goes", () => {
  const [text, other] = ["a".repeat(10_000), "b".repeat(20_000)];
  expect(growthOf({ s: { text: other } }, { text }, 8_192)).toBe(0);
  expect(growthOf({ s: { text: "short" } }, { text }, 8_192)).toBe('"short"'.length - 8_192);
});

test("what a delta writes counts, whatever it takes away", () => {
  const before = { text: "x".repeat(1_000), list: [1, 2, 3], gone: "y".repeat(500) };
  const delta: Delta = { u: ["gone"], s: { text: "short" }, d: { list: { p: [4] } } };
  const { written, total } = new Growth(delta, before);
  expect(written).toBe('"short"'.length + ",4".length);
  expect(total).toBe(written - sizeOf(before.text, Infinity) - sizeOf(before.gone, Infinity) - "gone".length - 4);
});
