import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeMarks, encodeMark, type MarkVersion, withVersion } from "../../../../src/engine/records/marks.ts";
import { trees } from "../../codec/delta/trees.ts";

const versions: fc.Arbitrary<MarkVersion> = fc.oneof(
  fc.record({ generation: fc.nat(3), label: fc.string() }),
  fc.record({
    generation: fc.nat(3),
    row: fc.record({ id: fc.string(), step: fc.integer(), createdAt: fc.nat() }),
    change: trees.map((tree) => ({ r: tree })),
  }),
);

test("Marks come back by seq with their versions in order.", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat()), fc.array(versions), (seqs, list) => {
      const found = seqs.map((item) => ({ item, part: 0, value: encodeMark(list) }));
      const decoded = decodeMarks(found);
      expect([...decoded.keys()]).toEqual(seqs);
      for (const own of decoded.values()) expect(JSON.stringify(own)).toBe(JSON.stringify(list));
    }),
  );
});

test("A version replaces that of its own generation and leaves earlier generations alone.", () => {
  fc.assert(
    fc.property(fc.array(versions), versions, (earlier, version) => {
      const before = earlier.reduce<readonly MarkVersion[]>((list, next) => withVersion(list, next), []);
      const after = withVersion(before, version);
      expect(after.at(-1)).toBe(version);
      const others = (list: readonly MarkVersion[]): MarkVersion[] =>
        list.filter(({ generation }) => generation !== version.generation);
      expect(others(after)).toEqual(others(before));
      const own = after.filter(({ generation }) => generation === version.generation);
      expect(own.length).toBeLessThanOrEqual(version.row ? 1 : 2);
    }),
  );
});

test("A label keeps the replacement of its generation, and a replacement ends the label before it.", () => {
  const replacement: MarkVersion = { generation: 1, row: { id: "a", step: 1, createdAt: 0 }, change: {} };
  const label: MarkVersion = { generation: 1, label: "best" };
  expect(withVersion([replacement], label)).toEqual([replacement, label]);
  expect(withVersion([label], replacement)).toEqual([replacement]);
  expect(withVersion(undefined, label)).toEqual([label]);
});
