import fc from "fast-check";
import { expect, test } from "vitest";
import { splitOverConnections } from "../../../src/backends/postgres/writing/split-statements.ts";

const entries = (...lengths: number[]): { readonly length: number }[] => lengths.map((length) => ({ length }));
const sum = (part: readonly { readonly length: number }[]): number => part.reduce((all, { length }) => all + length, 0);

test("a commit of small batches is split by their count, into one statement for each of at most four connections", () => {
  for (const [count, sequences] of [
    [0, []],
    [1, [1]],
    [32, [32]],
    [33, [16, 17]],
    [200, [50, 50, 50, 50]],
  ] as const) {
    const list = Array.from({ length: count }, () => ({ length: 1 }));
    expect(splitOverConnections(list, 1000).map((sequence) => sequence.map((part) => part.length))).toEqual(
      sequences.map((length) => [length]),
    );
  }
});

test("one batch is one statement, however large it is", () => {
  const list = entries(5000);
  expect(splitOverConnections(list, 1000)).toEqual([[list]]);
});

test("large batches have statements of their own, spread over the connections", () => {
  const list = entries(...Array.from({ length: 24 }, () => 700));
  const sequences = splitOverConnections(list, 1000);
  expect(sequences.map((sequence) => sequence.map((part) => part.length))).toEqual(Array(4).fill([1, 1, 1, 1, 1, 1]));
});

test("every batch is sent once, in order, and no statement is longer than the bound unless it is one batch", () => {
  const lists = fc.array(fc.record({ length: fc.nat({ max: 1500 }) }), { maxLength: 150 });
  fc.assert(
    fc.property(lists, (list) => {
      const sequences = splitOverConnections(list, 1000);
      expect(sequences.flat(2)).toEqual(list);
      expect(sequences.length).toBeLessThanOrEqual(4);
      for (const part of sequences.flat()) {
        expect(part.length).toBeGreaterThan(0);
        if (part.length > 1) expect(sum(part)).toBeLessThanOrEqual(1000);
      }
    }),
  );
});
