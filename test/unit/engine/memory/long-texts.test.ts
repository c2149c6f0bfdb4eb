import { expect, test } from "vitest";
import { LongTexts } from "../../../../src/engine/memory/long-texts.ts";

const rest = "x".repeat(20_000);

test("texts that differ only where no sample is taken are told apart", () => {
  const texts = new LongTexts<number>();
  const one = `${rest}1${rest}${rest}${rest}`;
  const two = `${rest}2${rest}${rest}${rest}`;
  texts.add(one, 1);
  expect(texts.get(two)).toBeUndefined();
  texts.add(two, 2);
  expect([texts.get(one), texts.get(two)]).toEqual([1, 2]);
  texts.delete(one);
  expect([texts.get(one), texts.get(two)]).toEqual([undefined, 2]);
  texts.delete(two);
  expect(texts.get(two)).toBeUndefined();
});

test("a text is found by another string of the same characters", () => {
  const texts = new LongTexts<number>();
  texts.add(`${rest}a`, 1);
  expect(texts.get([rest, "a"].join(""))).toBe(1);
  texts.clear();
  expect(texts.get(`${rest}a`)).toBeUndefined();
});
