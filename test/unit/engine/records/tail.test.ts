import fc from "fast-check";
import { expect, test } from "vitest";
import { fromRecord, type Row, toRecord } from "../../../../src/engine/records/row.ts";
import {
  decodeTailRow,
  decodeTailSummary,
  encodeTailRow,
  tailChange,
  takeChange,
} from "../../../../src/engine/records/tail.ts";
import { trees } from "../../codec/delta/trees.ts";

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom('quo"te', "", "a\nb", "é", "😀"));
const optional = fc.option(text, { nil: null });
const rows: fc.Arbitrary<Row> = fc.record({
  seq: fc.integer({ min: 1, max: 1_000 }),
  id: text,
  namespace: text,
  parent: fc.nat(999),
  base: fc.nat(999),
  step: fc.integer(),
  source: fc.constantFrom("loop" as const, "input" as const, "fork" as const, "update" as const),
  node: optional,
  run: optional,
  workflow: optional,
  label: text,
  createdAt: fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e13, noNaN: true })),
  stateVersion: fc.nat(),
  metadata: trees,
  pending: fc.nat(9),
  waiting: fc.nat(9),
  questions: fc.option(fc.array(text, { maxLength: 3 }), { nil: null }),
  tagged: fc.boolean(),
});

test("A tail record gives back the row, its count, the last root and the frame.", () => {
  fc.assert(
    fc.property(rows, fc.nat(), fc.nat(), trees, (row, count, root, tree) => {
      const decoded = decodeTailRow(row.seq, encodeTailRow(row, count, root, { r: tree }));
      expect(JSON.stringify(decoded.row)).toBe(JSON.stringify(fromRecord(row.seq, toRecord(row))));
      expect(decoded.row).toMatchObject({ id: row.id, namespace: row.namespace, parent: row.parent, base: row.base });
      expect([decoded.count, decoded.root]).toEqual([count, root]);
      expect(JSON.stringify(tailChange(decoded.value))).toBe(JSON.stringify({ r: tree }));
    }),
    { numRuns: 500 },
  );
});

const lookalikes = fc.constantFrom<Row["metadata"]>(null, { change: 1 }, { a: { x: 1, change: {} }, writes: [] });

test("A summary of a tail record has the row and its count, whatever looks like the change before it.", () => {
  const names = fc.constantFrom(null, ',"change":', '"metadata":', "plain");
  const odd = fc.tuple(rows, lookalikes, names).map(([row, metadata, node]) => ({ ...row, metadata, node }));
  fc.assert(
    fc.property(fc.oneof(rows, odd), fc.nat(), trees, fc.boolean(), (row, count, tree, carries) => {
      const writesText = carries ? '[{"task":"t","change":1}]' : "";
      const change = { r: tree };
      const value = encodeTailRow(row, count, row.seq, change, undefined, JSON.stringify(change), writesText);
      const whole = decodeTailRow(row.seq, value);
      const summary = decodeTailSummary(row.seq, value);
      expect([summary.row, summary.count]).toEqual([whole.row, whole.count]);
    }),
    { numRuns: 500 },
  );
});

test("Two stores encode the same row differently, and both records read alike.", () => {
  fc.assert(
    fc.property(rows, (row) => {
      const [one, other] = ["aaaa", "bbbb"].map((writer) => encodeTailRow(row, 1, row.seq, {}, writer));
      expect(one).not.toBe(other);
      expect(decodeTailRow(row.seq, one as string).row).toEqual(decodeTailRow(row.seq, other as string).row);
    }),
  );
});

test("Each taker of a tail row's frame gets nodes of its own.", () => {
  const [row] = fc.sample(rows, 1) as [Row];
  const entry = decodeTailRow(row.seq, encodeTailRow(row, 1, row.seq, { r: { list: [1] } }));
  const [first, second] = [takeChange(entry), takeChange(entry)] as { r: { list: number[] } }[];
  first?.r.list.push(2);
  expect(second).toEqual({ r: { list: [1] } });
});
