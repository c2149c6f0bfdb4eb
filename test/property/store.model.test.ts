import { describe, test } from "vitest";
import { campaignLocations } from "../support/places.ts";
import { matchesTheModel } from "./sequences.ts";

/**
 * Over all backends together two thousand, few enough for every run of the tests: most of them short, since any three
 * operations meet in a short one as well as in a long one, and some that go deep. The long campaign takes any number.
 */
const campaigns = [
  { sequences: 870, commands: 12 },
  { sequences: 30, commands: 40 },
];

describe.each(campaignLocations)("a store on $name", (backend) => {
  for (const { sequences, commands } of campaigns) {
    const count = Math.ceil(sequences * backend.share);
    test(`a store holds what a naive model that keeps whole copies holds, after each of ${count} sequences of up to ${commands} operations`, async () => {
      await matchesTheModel(backend, { sequences: count, commands });
    }, 600_000);
  }
});
