import { expect, test } from "vitest";
import { survivesKills } from "./kills.ts";

test.each(["sync", "async"] as const)(
  "%s: a run killed at random moments ends as if it had not been; no task whose write was durable is run again",
  async (durability) => {
    const { kills, repeated } = await survivesKills(10, durability);
    expect(kills).toBeGreaterThanOrEqual(10);
    // The kills did hit work that was under way.
    expect(repeated).toBeGreaterThan(0);
  },
  300_000,
);
