import fc from "fast-check";
import { expect, it } from "vitest";
import { type ListedCheckpoint, merged } from "../../src/langgraph/list.ts";

async function* rowsOf(ids: readonly string[]): AsyncGenerator<ListedCheckpoint> {
  for (const id of ids) yield { thread: "t", namespace: "", info: { id } as ListedCheckpoint["info"] };
}

async function mergedIds(streams: readonly (readonly string[])[]): Promise<string[]> {
  const ids: string[] = [];
  for await (const { info } of merged(streams.map(rowsOf))) ids.push(info.id);
  return ids;
}

const descending = fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 8 }).map((numbers) =>
  numbers
    .map((number) => String(number).padStart(2, "0"))
    .sort()
    .reverse(),
);

it("any streams of descending ids are merged into one, with every row of each", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(descending, { maxLength: 9 }), async (streams) => {
      expect(await mergedIds(streams)).toEqual(streams.flat().sort().reverse());
    }),
  );
});

it("merging looks at few heads for every row, however many streams there are", async () => {
  const count = 2000;
  let compared = 0;
  /** An id that counts how often it is compared. */
  const counting = (value: number): string =>
    ({
      [Symbol.toPrimitive]() {
        compared += 1;
        return value;
      },
    }) as never;
  const streams = Array.from({ length: count }, (_, index) => [counting(2 * index + 1), counting(index)]);
  expect(await mergedIds(streams)).toHaveLength(2 * count);
  // Two comparisons a level of the heap, of two ids each, for each of the rows, and as much to build it.
  expect(compared).toBeLessThan(4 * Math.ceil(Math.log2(count)) * 3 * count);
});
