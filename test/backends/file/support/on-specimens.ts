import { beforeEach, describe } from "vitest";
import { makeSpecimen, type Specimen } from "./damage.ts";

/** The same tests on a store as it was written, and on one that was compacted; each test has a new one. */
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
