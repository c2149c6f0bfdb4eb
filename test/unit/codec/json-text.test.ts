import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../src/codec/json.ts";
import { checkText, jsonBytes, mostBytes } from "../../../src/codec/json-text.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("\ud800", "\0\u2028"),
);
const json = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("tree")),
    fc.dictionary(text, tie("tree")) as fc.Arbitrary<Json>,
  ),
})).tree;

test("The measured size of a tree is that of its JSON in UTF-8.", () => {
  fc.assert(
    fc.property(json, (tree) => {
      expect(jsonBytes(tree)).toBe(Buffer.byteLength(JSON.stringify(tree)));
    }),
  );
});

test("The size of a long string is measured exactly, wherever it is cut.", () => {
  for (const unit of ["\u{1f600}", "x\u{1f600}", "é\n", "\ud800", "plain"]) {
    const long = unit.repeat(700_000);
    expect(jsonBytes({ long }), unit).toBe(Buffer.byteLength(JSON.stringify({ long })));
    expect(mostBytes(long), unit).toBe(Buffer.byteLength(long));
  }
});

test("A text is too large by its bytes, not by its length.", () => {
  expect(() => checkText("é".repeat(50), "It", 100)).not.toThrow();
  expect(() => checkText("é".repeat(51), "It", 100)).toThrow("It takes 102 bytes, and at most 100 can be stored.");
});
