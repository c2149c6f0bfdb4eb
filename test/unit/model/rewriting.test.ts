import { describe, expect, it } from "vitest";
import { isWorthRewriting, SMALL_REWRITE } from "../../../src/model/retention/rewriting.ts";

const nothing = { removed: 0, frames: 0, moved: 0, hiding: 0 };

describe("isWorthRewriting", () => {
  it.each([
    ["little is always written", { ...nothing, frames: SMALL_REWRITE - 1_000, moved: 1_000 }, true],
    ["a larger frame is not written for little", { ...nothing, removed: 1_000, frames: SMALL_REWRITE + 1 }, false],
    [
      "a full frame that goes pays only for the one in its place",
      { ...nothing, removed: 50_000, frames: 50_000 },
      false,
    ],
    ["a larger frame is written for as much beside", { ...nothing, removed: 100_000, frames: 50_000 }, true],
    ["records are moved for as much", { ...nothing, removed: 50_000, moved: 50_000 }, true],
    ["records are not moved for less", { ...nothing, removed: 49_999, moved: 50_000 }, false],
    ["hidden rows that have cost as much pay for a frame", { ...nothing, frames: 50_000, hiding: 100_000 }, true],
    ["a removal that writes nothing is always worth it", nothing, true],
  ])("%s", (_, cost, expected) => {
    expect(isWorthRewriting(cost)).toBe(expected);
  });
});
