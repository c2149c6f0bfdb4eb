import { expect, test } from "vitest";
import { survivesWorkerKills } from "../../runtime/kills/workers.ts";
import { postgresUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { howMany } from "../campaign.ts";

const rounds = howMany(5);

test.each([sqliteUnderTest, postgresUnderTest])(
  `$name: 80 runs end once under workers that are killed 20 times, ${rounds} times over`,
  async (backend) => {
    for (let round = 0; round < rounds; round += 1) {
      expect(await survivesWorkerKills(backend, 80, 20)).toBeGreaterThan(0);
    }
  },
  24 * 3_600_000,
);
