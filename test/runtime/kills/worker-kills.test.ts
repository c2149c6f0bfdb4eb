import { expect, test } from "vitest";
import { postgresUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { survivesWorkerKills } from "./workers.ts";

test.each([sqliteUnderTest, postgresUnderTest])(
  "workers in several processes, killed again and again, end every run once, on $name",
  { timeout: 120_000 },
  async (backend) => {
    expect(await survivesWorkerKills(backend, 12, 4)).toBeGreaterThanOrEqual(1);
  },
);
