import { expect, test } from "vitest";
import { howMany } from "../long/campaign.ts";
import { soak } from "../long/soak/rounds.ts";
import { survivesKills } from "../processes/kills/kills.ts";
import { citusUnderTest } from "./support/places.ts";

const minutes = Number(process.env.THREADMARK_SOAK ?? "0.5");

test(`a store on Citus keeps all that it acknowledges to processes that are killed, for ${minutes} minutes`, async () => {
  const tally = await soak(citusUnderTest, minutes * 60_000, () => {});
  console.log(`soak: ${[...tally].map(([what, count]) => `${what} ${count}`).join(", ")}`);
  expect(tally.get("kills")).toBeGreaterThan(0);
}, 3_600_000);

test("a store on Citus has every acknowledged commit, whole, after its writers were killed", async () => {
  const kills = howMany(30);
  const toll = await survivesKills(citusUnderTest, kills);
  console.log(`${toll.kills} kills, ${toll.acknowledged} acknowledgements, all kept`);
  expect(toll.kills).toBe(kills);
}, 3_600_000);
