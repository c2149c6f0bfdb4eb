import { describe, expect, test } from "vitest";
import { keepsReferredValues } from "../../processes/kills/values.ts";
import { survivesStops } from "../../store/large-values/stops.ts";
import { locations } from "../../support/places.ts";
import { howMany } from "../campaign.ts";

test.each([false, true])(
  "no record refers to a large value that is gone after a process ended at any of its calls; values outside: %s",
  async (outside) => {
    const stops = howMany(10_000);
    expect(await survivesStops(stops, outside)).toBeGreaterThanOrEqual(stops);
  },
);

const durable = locations.filter(({ capabilities }) => capabilities.durable);

describe.each(durable)("a store on $name", (backend) => {
  const kills = howMany(10_000);

  test.each([false, true])(
    `refers to no large value that is gone after ${kills} kills; values outside: %s`,
    async (outside) => {
      expect(await keepsReferredValues(backend, kills, outside)).toBeGreaterThanOrEqual(kills);
    },
    24 * 3_600_000,
  );
});
