import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareIds } from "../../../src/backends/shared/id-order.ts";
import { Ordered } from "../../../src/backends/shared/ordered/map.ts";

interface Entry {
  readonly key: number;
  readonly value: number;
}

type Probe = Pick<Entry, "key">;

const key = fc.integer({ min: 0, max: 400 });
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ set: key, value: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ low: key, length: fc.nat({ max: 300 }) }) },
);

/** Hundreds of keys at once, so that blocks split and empty; then single changes. */
const start = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 2500 });

function ascending(map: ReadonlyMap<number, number>): Entry[] {
  return [...map].map(([entry, value]) => ({ key: entry, value })).sort((a, b) => a.key - b.key);
}

describe("ordered entries", () => {
  test("ordered entries hold what a plain map holds, in order, from any point in both directions", () => {
    fc.assert(
      fc.property(start, fc.array(operation, { maxLength: 30 }), key, (initial, operations, at) => {
        const ordered = new Ordered<Probe, Entry>((a, b) => a.key - b.key);
        const map = new Map<number, number>();
        const set = (entry: number, value: number): void => {
          expect(ordered.set({ key: entry, value })?.value).toBe(map.get(entry));
          map.set(entry, value);
        };
        for (const entry of initial) set(entry, 0);
        for (const change of operations) {
          if ("set" in change) set(change.set, change.value);
          else {
            const high = change.low + change.length;
            const gone = ascending(map).filter((entry) => entry.key >= change.low && entry.key <= high);
            expect(ordered.remove({ key: change.low }, { key: high })).toEqual(gone);
            for (const entry of gone) map.delete(entry.key);
          }
        }
        const all = ascending(map);
        expect([...ordered]).toEqual(all);
        expect([...ordered.upFrom({ key: at })]).toEqual(all.filter((entry) => entry.key >= at));
        expect([...ordered.downFrom({ key: at })]).toEqual(all.filter((entry) => entry.key <= at).reverse());
        expect(ordered.get({ key: at })?.value).toBe(map.get(at));
        expect(ordered.isEmpty).toBe(map.size === 0);
      }),
      { numRuns: 200 },
    );
  });
});

describe("the order of thread ids", () => {
  test("the order of thread ids is the order of the UTF-8 bytes", () => {
    const text = fc.string({ unit: "binary", maxLength: 8 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareIds(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      {
        numRuns: 2000,
        examples: [
          ["\uffff", "😀"],
          ["\ue000", "\u{10ffff}"],
          ["a", "ab"],
        ],
      },
    );
  });
});
