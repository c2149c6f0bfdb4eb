import { describe, expect, test } from "vitest";
import { locations } from "../../support/places.ts";
import { survivesKills } from "./kills.ts";

/** Where a commit costs more, fewer: the long campaign kills a thousand on each. */
const kills: Readonly<Record<string, number>> = { sqlite: 30, file: 10, postgres: 6 };
const durable = locations
  .filter(({ capabilities }) => capabilities.durable)
  .map((backend) => ({ ...backend, kills: kills[backend.name] ?? 30 }));

describe.each(durable)("a store on $name", (backend) => {
  test(`a store on ${backend.name} has every acknowledged commit, whole, after ${backend.kills} writers were killed`, async () => {
    const toll = await survivesKills(backend, backend.kills);
    expect(toll.kills).toBe(backend.kills);
    expect(toll.acknowledged).toBeGreaterThan(backend.kills);
  }, 1_200_000);
});
