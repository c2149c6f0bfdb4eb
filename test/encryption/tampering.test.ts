import { expect, test } from "vitest";
import {
  fileUnderTest,
  memoryUnderTest,
  postgresUnderTest,
  redisUnderTest,
  sqliteUnderTest,
} from "../support/places.ts";
import { refusesForgeries } from "./support/forgeries.ts";

/** Forgeries on each backend. `npm run test:long` has 10,000 where it is fewer here. */
const backends = [
  [memoryUnderTest, 10_000],
  [sqliteUnderTest, 10_000],
  [fileUnderTest, 10_000],
  [postgresUnderTest, 1_000],
  [redisUnderTest, 3_000],
] as const;

for (const [backend, tries] of backends) {
  test(`a record that is flipped, cut, swapped, moved or stripped is refused, and none reads as something else (${backend.name})`, {
    timeout: 240_000,
  }, async () => {
    const { records, threads } = await refusesForgeries(backend, tries);
    expect(records).toBeGreaterThan(0.9 * tries);
    expect(threads).toBeGreaterThan(tries / 200);
  });
}
