import fc from "fast-check";
import { expect, test } from "vitest";
import { millisecondsOf } from "../../../src/model/retention/duration.ts";
import { type CheckpointRules, sweepWindows } from "../../../src/model/retention/sweep.ts";

const rules: CheckpointRules = { keepLast: 1, keepLabelled: false, ancestors: "truncate" };

test("a duration is milliseconds, or a number with its unit", () => {
  expect(["30s", "5m", "5min", "1h", "7d", "2w", "250ms", "1.5h", 12].map(millisecondsOf)).toEqual([
    30_000, 300_000, 300_000, 3_600_000, 604_800_000, 1_209_600_000, 250, 5_400_000, 12,
  ]);
  for (const wrong of ["", "7", "d", "7 days", "-1d", "1y", "constructor", -1, Number.NaN, null, {}]) {
    expect(millisecondsOf(wrong)).toBeUndefined();
  }
});

test("sweeps whenever they come look at each thread when it was active, and at every eighth of olderThan after that", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 8, max: 4000 }),
      (pauses, activity, olderThan) => {
        const looks: number[] = [];
        let last = 0;
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          const isSeen = sweepWindows({ ...rules, olderThan }, last, now).some(
            ({ from, to }) => activity > from && activity <= to && activity <= now,
          );
          if (isSeen) looks.push(now);
          last = now;
        }
        for (let eighth = 0; eighth <= 8; eighth += 1) {
          const due = activity + (eighth * olderThan) / 8;
          let previous = 0;
          for (const pause of pauses) {
            const at = previous + pause;
            if (due > previous && due <= at) expect(looks).toContain(at);
            previous = at;
          }
        }
      },
    ),
  );
});

test("windows do not overlap, so that a sweep looks at a thread once", () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(5000), fc.nat(5000), (last, pause, olderThan) => {
      const windows = sweepWindows({ ...rules, olderThan }, last + 1, last + 1 + pause);
      for (const [index, { from }] of windows.entries()) {
        const before = windows[index - 1];
        if (before) expect(from).toBeGreaterThan(before.to);
      }
    }),
  );
});
