import { describe, expect, test } from "vitest";
import { locations } from "../backends/locations.ts";
import { survivesKills } from "./kills.ts";

const durable = locations.filter(({ capabilities }) => capabilities.durable);

describe.each(durable)("a store on $name", (backend) => {
  test("has every acknowledged commit, whole, after 30 writers were killed", async () => {
    const { kills, acknowledged } = await survivesKills(backend, 30);
    expect(kills).toBe(30);
    expect(acknowledged).toBeGreaterThan(30);
  }, 1_200_000);
});
