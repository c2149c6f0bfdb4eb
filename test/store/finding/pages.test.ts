import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { MOST_READ, pagesOf } from "./pages.ts";

test.each([2_500, 5_000])("a page of 10 among %i threads reads what it shows, and little more", async (count) => {
  for (const taken of await pagesOf(memory(), count)) {
    expect(taken.records).toBeLessThan(MOST_READ.records);
    expect(taken.reads).toBeLessThan(MOST_READ.reads);
  }
});
