import fc from "fast-check";
import { expect, test } from "vitest";
import { placeInLanes } from "../../../src/display/lanes.ts";

test("a linear history has one lane", () => {
  const rows = [3, 2, 1].map((n) => ({ id: String(n), parent: n === 1 ? null : String(n - 1) }));
  expect(placeInLanes(rows)).toEqual({
    width: 1,
    places: [
      { lane: 0, above: [], below: [0] },
      { lane: 0, above: [[0, 0]], below: [0] },
      { lane: 0, above: [[0, 0]], below: [] },
    ],
  });
});

/** Each row but the first has a parent among those before it, or none. */
const histories = fc
  .array(fc.option(fc.nat(), { nil: null, freq: 8 }), { minLength: 1, maxLength: 40 })
  .map((choices) =>
    choices
      .map((choice, index) => ({
        id: String(index),
        parent: choice === null || index === 0 ? null : String(choice % index),
      }))
      .reverse(),
  );

test("from every checkpoint a line leads down to its parent, and to no other", () => {
  fc.assert(
    fc.property(histories, (rows) => {
      const { places, width } = placeInLanes(rows);
      for (const [index, row] of rows.entries()) {
        let lane = places[index]!.lane;
        expect(lane).toBeLessThan(width);
        expect(places[index]!.below.includes(lane)).toBe(row.parent !== null);
        if (row.parent === null) continue;
        for (let next = index + 1; ; next += 1) {
          const place = places[next]!;
          const line = place.above.find(([from]) => from === lane);
          expect(line).toBeDefined();
          lane = line![1];
          if (rows[next]!.id === row.parent) {
            expect(lane).toBe(place.lane);
            break;
          }
          expect(lane).not.toBe(place.lane);
        }
      }
    }),
  );
});
