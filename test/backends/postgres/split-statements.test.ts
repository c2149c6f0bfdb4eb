import fc from "fast-check";
import { expect, test } from "vitest";
import { splitOverConnections } from "../../../src/backends/postgres/writing/split-statements.ts";

const entries = (...lengths: number[]): { readonly length: number }[] => lengths.map((length) => ({ length }));
const sum = (part: readonly { readonly length: number }[]): number => part.reduce((all, { length }) => all + length, 0);

test("what fits is cut by count alone, into at most four lanes of one statement", () => {
  for (const [count, lanes] of [
    [0, []],
    [1, [1]],
    [32, [32]],
    [33, [16, 17]],
    [200, [50, 50, 50, 50]],
  ] as const) {
    const list = Array.from({ length: count }, () => ({ length: 1 }));
    expect(splitOverConnections(list, 1000).map((lane) => lane.map((part) => part.length))).toEqual(
      lanes.map((length) => [length]),
    );
  }
});

test("one batch is one statement, however large", () => {
  const list = entries(5000);
  expect(splitOverConnections(list, 1000)).toEqual([[list]]);
});

test("large batches have statements of their own, spread over the lanes", () => {
  const list = entries(...Array.from({ length: 24 }, () => 700));
  const lanes = splitOverConnections(list, 1000);
  expect(lanes.map((lane) => lane.map((part) => part.length))).toEqual(Array(4).fill([1, 1, 1, 1, 1, 1]));
});

test("every batch is sent once, in order, and no statement is longer than the bound unless it is one batch", () => {
  const lists = fc.array(fc.record({ length: fc.nat({ max: 1500 }) }), { maxLength: 150 });
  fc.assert(
    fc.property(lists, (list) => {
      const lanes = splitOverConnections(list, 1000);
      expect(lanes.flat(2)).toEqual(list);
      expect(lanes.length).toBeLessThanOrEqual(4);
      for (const part of lanes.flat()) {
        expect(part.length).toBeGreaterThan(0);
        if (part.length > 1) expect(sum(part)).toBeLessThanOrEqual(1000);
      }
    }),
  );
});
