import { expect, test } from "vitest";
import { survivesStops } from "./stops.ts";

/** The long campaign has thousands. */
const stops = 300;

test.each([false, true])(
  `no record refers to a large value that is gone after ${stops} processes ended at one of their calls; outside: %s`,
  async (outside) => {
    expect(await survivesStops(stops, outside, 40)).toBeGreaterThanOrEqual(stops);
  },
  600_000,
);
