import { test } from "vitest";
import { cases, missing, runCase } from "../../../src/testing/index.ts";
import { type BackendUnderTest, kitLocation } from "../../support/places.ts";

/**
 * Makes a test of every case of the kit. A case that needs a capability the backend lacks shows as skipped, with that
 * capability.
 */
export function holdsToTheKit(backend: BackendUnderTest): void {
  for (const testCase of cases) {
    const lacks = missing(testCase, backend.capabilities);
    const reason = lacks.length === 0 ? "" : ` (needs ${lacks.join(", ")})`;
    test.skipIf(lacks.length > 0)(
      `${testCase.name}${reason}`,
      async () => {
        await runCase(testCase, backend.capabilities, await kitLocation(backend));
      },
      600_000,
    );
  }
}
