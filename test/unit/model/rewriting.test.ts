import { describe, expect, it } from "vitest";
import { isWorthRewriting, SMALL_FRAMES } from "../../../src/model/retention/rewriting.ts";

describe("isWorthRewriting", () => {
  it.each([
    ["a small frame is always written", { removed: 0, written: SMALL_FRAMES }, true],
    ["a larger frame is not written for little", { removed: 1_000, written: SMALL_FRAMES + 1 }, false],
    ["a larger frame is written for as much", { removed: 50_000, written: 50_000 }, true],
    ["a removal that writes no frame is always worth it", { removed: 0, written: 0 }, true],
  ])("%s", (_, cost, expected) => {
    expect(isWorthRewriting(cost)).toBe(expected);
  });
});
