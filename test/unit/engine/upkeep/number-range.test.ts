import fc from "fast-check";
import { expect, it } from "vitest";
import { NumberRange } from "../../../../src/engine/upkeep/number-range.ts";

const tapes = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 6 })), { maxLength: 120 });

/** Returns the numbers of several lineages, by passes over the tapes that hold no more than `most` at a time. */
function repeated(all: readonly (readonly [number, number])[], most: number): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (let range: NumberRange | undefined = new NumberRange(0, most); range; range = range.rest()) {
    for (const [number, lineage] of all) {
      range.add(number, lineage);
      expect(range.held).toBeLessThanOrEqual(most);
    }
    for (const [number, lineages] of range.repeated()) found.set(number, new Set(lineages));
  }
  return found;
}

it("passes in bounded memory find the numbers that several lineages have, and only those", () => {
  fc.assert(
    fc.property(tapes, fc.integer({ min: 14, max: 60 }), (all, most) => {
      const expected = new Map<number, Set<number>>();
      for (const [number, lineage] of all) expected.set(number, (expected.get(number) ?? new Set()).add(lineage));
      for (const [number, lineages] of expected) if (lineages.size < 2) expected.delete(number);
      expect(repeated(all, most)).toEqual(expected);
    }),
  );
});

it("a tape that is added over and over takes one place", () => {
  const range = new NumberRange(0, 8);
  for (let time = 0; time < 1_000; time += 1) range.add(5, 1);
  range.add(6, 1);
  range.add(6, 2);
  expect([...range.repeated()]).toEqual([[6, [1, 2]]]);
  expect(range.rest()).toBeUndefined();
});

it("a number of more lineages than fit is still found, and the passes end", () => {
  const all = Array.from({ length: 100 }, (_, index) => [7, index + 1] as const);
  expect(repeated(all, 4).get(7)?.size).toBeGreaterThan(1);
});
