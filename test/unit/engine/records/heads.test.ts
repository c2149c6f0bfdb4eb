import fc from "fast-check";
import { expect, test } from "vitest";
import { wrapJson } from "../../../../src/codec/envelope.ts";
import { type HeadRecord, headIn, namespacesIn, withHead } from "../../../../src/engine/records/heads.ts";

const names = fc.constantFrom('["a"]', '["b"]', "constructor", "toString");
const sealings = fc.array(fc.tuple(names, fc.string({ maxLength: 3 })), { minLength: 1, maxLength: 12 });

test("A record of heads knows the last seq and the greatest id of each namespace that was sealed.", () => {
  fc.assert(
    fc.property(sealings, (sealed) => {
      let record: HeadRecord | undefined;
      for (const [index, [namespace, id]] of sealed.entries()) record = withHead(record, namespace, index + 1, id);
      const stored = JSON.parse(JSON.stringify(record)) as HeadRecord;
      for (const namespace of new Set(sealed.map(([name]) => name))) {
        const ids = sealed.flatMap(([name, id]) => (name === namespace ? [id] : []));
        const seq = sealed.findLastIndex(([name]) => name === namespace) + 1;
        const greatestId = ids.reduce((greatest, id) => (id > greatest ? id : greatest));
        expect(headIn(stored, namespace)).toEqual({ seq, greatestId });
      }
      const known = namespacesIn(wrapJson(stored));
      expect(new Set(known)).toEqual(new Set(sealed.map(([name]) => name)));
    }),
  );
});

test("A namespace whose greatest id was never known does not guess one from later rows.", () => {
  expect(headIn(withHead({ n: 4 }, "n", 9, "zzz"), "n")).toEqual({ seq: 9, greatestId: undefined });
});

test("A namespace that no row was sealed of has no head.", () => {
  expect(headIn({}, "n")).toBeUndefined();
  expect(headIn(withHead(undefined, "n", 1, "a"), "other")).toBeUndefined();
  expect(headIn({}, "constructor")).toBeUndefined();
});
