import { beforeEach, describe } from "vitest";
import { makeSpecimen, type Specimen } from "./damage.ts";

/** Runs the tests on a store as it was written, and on a compacted one; each test gets a new store. */
export function onSpecimens(tests: (specimen: () => Specimen) => void): void {
  describe.each([
    ["as it was written", false],
    ["compacted, and written to since", true],
  ])("a store %s", (_, compacted) => {
    let specimen: Specimen;
    beforeEach(async () => {
      specimen = await makeSpecimen(compacted);
    });
    tests(() => specimen);
  });
}
