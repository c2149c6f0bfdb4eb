import { describe, test } from "vitest";
import { matchesTheModel } from "../property/sequences.ts";
import { campaignLocations } from "../support/places.ts";
import { howMany, progressOf } from "./campaign.ts";

describe.each(campaignLocations)("a store on $name", (backend) => {
  const sequences = howMany(3_000 * backend.share);

  test(
    `holds what the naive model holds, after each of ${sequences} sequences`,
    async () => {
      const progress = progressOf(`${backend.name}: sequences`, 500);
      await matchesTheModel(backend, { sequences, commands: 80, progress });
    },
    24 * 3_600_000,
  );
});
