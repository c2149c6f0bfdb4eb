import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../../src/codec/json.ts";
import { type Column, packColumn, unpackColumn } from "../../../../src/engine/records/pack/column.ts";
import { trees } from "../../codec/delta/trees.ts";

const integers = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
const columns: fc.Arbitrary<Json[]> = fc.oneof(
  fc.array(trees, { minLength: 1, maxLength: 20 }),
  fc.array(integers, { minLength: 1, maxLength: 20 }),
  fc.array(fc.constantFrom<Json>("a", "b", null, 0, [1], { c: 1 }), { minLength: 1, maxLength: 20 }),
  fc.tuple(fc.nat(), fc.integer(), fc.integer({ min: 1, max: 20 })).map(([first, stride, length]) => {
    return Array.from({ length }, (_, index) => first + index * stride);
  }),
);

const stored = (column: Column | undefined): Column | undefined =>
  column === undefined ? undefined : (JSON.parse(JSON.stringify(column)) as Column);

test("A column comes back with the values and the fallback that it was packed with.", () => {
  fc.assert(
    fc.property(columns, fc.constantFrom<Json>(null, 0, -1, ""), (values, fallback) => {
      const before = JSON.stringify(values);
      const unpacked = unpackColumn(stored(packColumn(values, fallback)), values.length, fallback);
      expect(JSON.stringify(unpacked)).toBe(before);
      expect(JSON.stringify(values)).toBe(before);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, Json[], Json, Column | undefined]>([
  ["nothing but the fallback is absent", ["", "", ""], "", undefined],
  ["one value throughout is stored once", [7, 7, 7], 0, { c: 7 }],
  ["an arithmetic sequence is stored as its first value and its stride", [3, 5, 7, 9], null, { a: [3, 2] }],
  ["other integers are stored as differences", [3, 5, 6, 90], null, { n: [3, 2, 1, 84] }],
  ["few distinct values are stored once each", ["a", "b", "a", "b"], "", { d: ["a", "b"], x: [0, 1, 0, 1] }],
  ["many distinct values are stored as they are", ["a", "b", "c", "a"], "", ["a", "b", "c", "a"]],
])("In a column, %s.", (_, values, fallback, column) => {
  expect(packColumn(values, fallback)).toEqual(column);
});

test.each([
  [[Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0]],
  [[-5126490337520978, 3936046449591225]],
  [[-9007199254740991, -1, 9007199254740989]],
])("Integers that are too far apart for exact differences come back unchanged: %j.", (values) => {
  expect(unpackColumn(packColumn(values, null), values.length, null)).toEqual(values);
});

test("A count that no pack has yields no values, however large it is.", () => {
  for (const count of [-1, 2 ** 16 + 1, 1e9, Number.NaN, undefined as unknown as number]) {
    expect(unpackColumn({ c: 1 }, count, null)).toEqual([]);
  }
});

test("A malformed column yields no values or values of the wrong length, and does not throw.", () => {
  for (const column of [null, 5, "text", {}, { x: [0] }, { d: [1] }, { a: "1" }] as Column[]) {
    expect(unpackColumn(column, 3, null)).not.toHaveLength(3);
  }
});
