import { describe, expect, it } from "vitest";
import type { Delta } from "../../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../../src/codec/json.ts";
import { LargeParts } from "../../../../../src/engine/bodies/values/large-parts.ts";

const long = "x".repeat(50);

/** Returns the change with `<…>` in place of values from 40 characters on, and what those are. */
function partsOf(change: Delta): { readonly stored: Delta; readonly values: readonly string[] } {
  const values: string[] = [];
  const note = (text: string): Json => `<${values.push(text)}>`;
  const stored = new LargeParts(40, { string: note, container: note }).inDelta(change);
  return { stored, values };
}

describe("the large values of a change", () => {
  it("strings are large values of a change, wherever it writes a value", () => {
    const change: Delta = { s: { a: long }, d: { b: { p: [{ c: long }] }, c: { l: 1, e: [[0, { r: long }]] } } };
    const { stored, values } = partsOf(change);
    expect(values).toEqual([long, long, long]);
    expect(stored).toEqual({ s: { a: "<1>" }, d: { b: { p: [{ c: "<2>" }] }, c: { l: 1, e: [[0, { r: "<3>" }]] } } });
    expect(change.s).toEqual({ a: long });
  });

  it("texts that are added to a string are no large values", () => {
    expect(partsOf({ d: { a: { a: long }, b: { l: 3, t: [[0, 1, long]] } } }).values).toEqual([]);
  });

  it("lists of numbers and elements of lists are large values, the innermost first", () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const parts = Array.from({ length: 10 }, (_, index) => ({ part: index }));
    const { stored } = partsOf({ s: { numbers, list: [{ parts, more: long }, { parts }] } });
    expect(stored).toEqual({ s: { numbers: "<1>", list: [{ parts: "<2>", more: "<3>" }, { parts: "<4>" }] } });
  });

  it("fields of a state are no large values, since they grow", () => {
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`file-${index}`, "short"]));
    const list = Array.from({ length: 20 }, () => "short");
    const change: Delta = { r: { s: { files, list }, p: list } };
    expect(partsOf(change)).toEqual({ stored: change, values: [] });
    expect(partsOf(change).stored).toBe(change);
  });
});
