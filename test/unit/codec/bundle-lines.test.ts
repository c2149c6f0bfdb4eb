import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "../../../src/codec/bundle.ts";
import { collect } from "../../support/collect.ts";

async function all(source: Parameters<typeof linesOf>[0]): Promise<string[]> {
  return collect(linesOf(source));
}

/** Cut at these places. */
function* pieces<Whole extends string | Uint8Array>(whole: Whole, cuts: readonly number[]): Generator<Whole> {
  let from = 0;
  for (const cut of [...cuts.map((one) => one % (whole.length + 1)).sort((a, b) => a - b), whole.length]) {
    yield whole.slice(from, cut) as Whole;
    from = cut;
  }
}

test("the lines of a bundle are the same however it comes in pieces, also those that end inside a character", async () => {
  const text = fc.array(fc.constantFrom("a", "é", "€", "😀", "\n", ""), { maxLength: 30 }).map((list) => list.join(""));
  const cuts = fc.array(fc.nat(200), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, cuts, async (whole, places) => {
      const lines = whole.split("\n");
      if (lines.at(-1) === "") lines.pop();
      expect(await all(pieces(Buffer.from(whole), places))).toEqual(lines);
      expect(await all(pieces(whole, places))).toEqual(lines);
    }),
  );
});

// Searching all that is there with every piece would take far longer than a test may: the pieces let its timeout come.
test("a long line in many pieces is put together once, not with every piece", async () => {
  const count = 2_000_000;
  async function* letters(): AsyncGenerator<string> {
    for (let index = 0; index < count; index += 1) {
      if (index % 10_000 === 0) await nextTurn();
      yield "x";
    }
    yield "\nend";
  }
  const lines = await all(letters());
  expect(lines.map((line) => line.length)).toEqual([count, 3]);
});
