import { describe, expect, test } from "vitest";
import { survivesBackupKills, survivesRestoreKills } from "../../processes/backups/kills.ts";
import { survivesKills } from "../../processes/kills/kills.ts";
import { locations } from "../../support/places.ts";
import { howMany } from "../campaign.ts";

const durable = locations.filter(({ capabilities }) => capabilities.durable);

describe.each(durable)("a store on $name", (backend) => {
  const kills = howMany(1_000);

  test(
    `has every acknowledged commit, whole, after ${kills} kills`,
    async () => {
      const toll = await survivesKills(backend, kills);
      console.log(`${backend.name}: ${toll.kills} kills, ${toll.acknowledged} acknowledgements, all kept`);
      expect(toll.kills).toBe(kills);
    },
    24 * 3_600_000,
  );

  const copies = howMany(100);

  test(
    `has only whole backups after ${copies} kills, and is restored whole after as many`,
    async () => {
      expect((await survivesBackupKills(backend, copies)).kills).toBe(copies);
      expect((await survivesRestoreKills(backend, copies)).kills).toBe(copies);
    },
    24 * 3_600_000,
  );
});
