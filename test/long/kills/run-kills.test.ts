import { expect, test } from "vitest";
import { survivesKills } from "../../runtime/kills/kills.ts";
import { howMany } from "../campaign.ts";

const kills = howMany(500);

test.each(["sync", "async"] as const)(
  `%s: a run survives ${kills} kills`,
  async (durability) => {
    const toll = await survivesKills(kills, durability);
    console.log(`${durability}: ${toll.kills} kills in ${toll.runs} runs, ${toll.repeated} tasks run more than once`);
    expect(toll.kills).toBeGreaterThanOrEqual(kills);
  },
  24 * 3_600_000,
);
