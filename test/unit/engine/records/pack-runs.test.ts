import fc from "fast-check";
import { expect, test } from "vitest";
import { packRuns } from "../../../../src/engine/records/pack/pack-runs.ts";

const bounds = fc.record({ packRows: fc.integer({ min: 1, max: 8 }), packBytes: fc.integer({ min: 1, max: 100 }) });
const sum = (run: readonly number[]): number => run.reduce((total, size) => total + size, 0);

test("Runs for packs keep all rows in order, and each is within both bounds or one row alone.", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(150)), bounds, (sizes, { packRows, packBytes }) => {
      const { full, rest } = packRuns(sizes, (size) => size, { packRows, packBytes });
      expect([...full.flat(), ...rest]).toEqual(sizes);
      for (const run of full) {
        expect(run.length).toBeGreaterThan(0);
        expect(run.length).toBeLessThanOrEqual(packRows);
        if (run.length > 1) expect(sum(run)).toBeLessThanOrEqual(packBytes);
      }
      expect(rest.length).toBeLessThan(packRows);
      expect(sum(rest)).toBeLessThan(packBytes);
    }),
  );
});

test("A run for a pack ends only where the next row does not fit.", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(150)), bounds, (sizes, { packRows, packBytes }) => {
      const { full, rest } = packRuns(sizes, (size) => size, { packRows, packBytes });
      for (const [index, run] of full.entries()) {
        const next = (full[index + 1] ?? rest)[0] ?? Number.POSITIVE_INFINITY;
        const isFull = run.length === packRows || sum(run) >= packBytes;
        expect(isFull || sum(run) + next > packBytes).toBe(true);
      }
    }),
  );
});
