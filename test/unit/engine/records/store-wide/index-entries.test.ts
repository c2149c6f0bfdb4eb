import fc from "fast-check";
import { expect, test } from "vitest";
import {
  AFTER_STATUSES,
  attributePrefix,
  attributeTextPrefix,
  blindedFields,
  fieldsToBlind,
  runText,
  textBehind,
  timeOf,
  timeText,
  timeTextBehind,
  valueBounds,
  workflowPart,
  workflowPrefix,
} from "../../../../../src/engine/records/store-wide/index-entries.ts";
import { compareBytes, utf8 } from "../../../../../src/platform/bytes.ts";

const order = (left: string, right: string): number => Math.sign(compareBytes(utf8(left), utf8(right)));
const statuses = ["w", "f", "c", "d", "p"] as const;
/** Texts with many of the characters that end fields, and of those that escape them. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "0", "~", "é", ..."\u0001\u0002\u0004\u0007\u0008\u0009") });
const value = fc.oneof(text, fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
type Value = string | number | boolean;

/** Compares values as `where` does: booleans, then numbers, then strings bytewise. */
function compareValues(left: Value, right: Value): number {
  const types = ["boolean", "number", "string"];
  const byType = types.indexOf(typeof left) - types.indexOf(typeof right);
  if (byType !== 0) return Math.sign(byType);
  if (typeof left === "string") return order(left, right as string);
  return Math.sign(Number(left) - Number(right));
}

test("entries of an attribute are in the order of its values, whatever status and time follow", () => {
  const status = fc.constantFrom(...statuses);
  const property = fc.property(value, value, status, status, (left, right, one, other) => {
    const order1 = compareValues(left, right);
    if (order1 === 0) return;
    const entry = (of: Value, status: (typeof statuses)[number]): string =>
      attributePrefix("name", of, status) + timeText(1_750_000_000_000);
    expect(order(entry(left, one), entry(right, other))).toBe(order1);
    const { from, to } = valueBounds("name", left);
    expect([order(from, entry(left, one)), order(entry(left, one), to)]).toEqual([-1, -1]);
    expect(order(from, entry(right, other)) < 0 && order(entry(right, other), to) < 0).toBe(false);
  });
  fc.assert(property);
});

test("strings of an attribute that begin alike, and only those, begin with its text", () => {
  const property = fc.property(text, text, (beginning, whole) => {
    const entry = attributePrefix("name", whole, "d");
    expect(entry.startsWith(attributeTextPrefix("name", beginning))).toBe(whole.startsWith(beginning));
  });
  fc.assert(property);
});

test("a workflow's entries are between its text and the one behind all statuses, and no other workflow's are", () => {
  const property = fc.property(text, text, fc.constantFrom(...statuses), (workflow, other, status) => {
    const part = workflowPart(workflowPrefix(workflow, status) + timeText(5));
    const entry = workflowPrefix(other, status) + timeText(5);
    const isWithin = order(part, entry) < 0 && order(entry, part + AFTER_STATUSES) < 0;
    expect(isWithin).toBe(workflow === other);
  });
  fc.assert(property);
});

test("times are kept in order, down to a tenth of a second", () => {
  const property = fc.property(fc.nat(4_000_000_000_000), fc.nat(4_000_000_000_000), (left, right) => {
    expect(timeOf(`s\u0004${timeText(left)}`)).toBe(Math.floor(left / 100) * 100);
    const byTenth = Math.sign(Math.floor(left / 100) - Math.floor(right / 100));
    expect(order(timeText(left), timeText(right))).toBe(byTenth);
    expect(order(timeText(left), timeTextBehind(left))).toBe(-1);
    if (byTenth < 0) expect(order(timeTextBehind(left), timeText(right))).toBeLessThanOrEqual(0);
  });
  fc.assert(property);
  expect(timeText(Number.MAX_SAFE_INTEGER)).toBe("zzzzzz");
  expect(timeText(-1)).toBe("------");
  expect(timeTextBehind(Number.MAX_SAFE_INTEGER)).toBe("~");
});

test("the fields of an entry are found to be hidden, and only once", () => {
  const property = fc.property(text, value, (name, of) => {
    for (const entry of [attributePrefix(name, of, "p"), workflowPrefix(name, "w"), runText(`r${name}`)]) {
      const whole = entry + (entry.startsWith("r") ? "" : timeText(7));
      const fields = fieldsToBlind(whole);
      if (fields === undefined) throw new Error(`No fields in ${JSON.stringify(whole)}.`);
      const blinded = blindedFields(whole, fields, "BLIND");
      expect(blinded.length).toBe(whole.length - fields.length + 7);
      expect(fieldsToBlind(blinded)).toBeUndefined();
      expect(fieldsToBlind(textBehind(whole))).toBe(fields);
    }
  });
  fc.assert(property);
  for (const bound of ["a", "r", "w", "d", "x", "#"]) expect(fieldsToBlind(bound)).toBeUndefined();
});
