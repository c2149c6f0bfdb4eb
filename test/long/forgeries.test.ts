import { expect, test } from "vitest";
import { refusesForgeries } from "../encryption/support/forgeries.ts";
import { locations, redisUnderTest } from "../support/places.ts";
import { howMany } from "./campaign.ts";

const tries = howMany(10_000);

test.each([...locations, redisUnderTest])(
  `of ${tries} forged records in the storage of an encrypted store none is read ($name)`,
  async (backend) => {
    expect((await refusesForgeries(backend, tries)).records).toBeGreaterThan(0.9 * tries);
  },
  24 * 3_600_000,
);
