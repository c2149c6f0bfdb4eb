import { test } from "vitest";
import type { Backend, Capabilities } from "../../../src/backend.ts";
import { backendCases } from "../../../src/testing/backend-cases.ts";

/**
 * Makes a vitest test of every case of the backend contract. `place` gives each case its own opener: it opens an empty
 * store when first called and the same store when called again.
 */
export function testContract(capabilities: Capabilities, place: () => () => Promise<Backend>): void {
  for (const { name, requires, run } of backendCases) {
    if (requires !== undefined && !capabilities[requires]) test.skip(`${name} (needs: ${requires})`);
    else test(name, () => run(place()));
  }
}
