import fc from "fast-check";
import { expect, test } from "vitest";
import { subjectFaults } from "../../../scripts/check-commits.ts";

test.each([
  "Bound retries on a contended thread by time, and make them fair",
  "fix: read few packs at once where a whole history is gone through",
  "fix(postgres): quote schemas for every setting, refuse odd names",
  "Process tails in order",
  "Pass the lease along",
  "Focus the first field",
  "Bring the file's own name",
  "Re-read the tape after a conflict",
])("the commit subject %j has no fault", (subject) => {
  expect(subjectFaults(subject)).toEqual([]);
});

test.each([
  ["Fixed the seal", "imperative"],
  ["Fixing the seal", "imperative"],
  ["Fixes the seal", "imperative"],
  ["Reaches the head", "imperative"],
  ["docs: describes the seal", "imperative"],
  ["12 files moved", "does not begin with a verb"],
  ["", "does not begin with a verb"],
  ["Fix the seal.", "full stop"],
])("the commit subject %j is refused since it is wrong in this: %s", (subject, fault) => {
  expect(subjectFaults(subject).join()).toContain(fault);
});

test("a commit subject is too long exactly where it has more than 72 characters", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 150 }), (rest) => {
      const subject = `Fix ${"x".repeat(rest)}`;
      expect(subjectFaults(subject).length).toBe(subject.length > 72 ? 1 : 0);
    }),
  );
});
