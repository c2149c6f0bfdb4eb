import { describe, test } from "vitest";
import { redisClusterUnderTest, redisUnderTest } from "../support/places.ts";
import { matchesTheModel } from "./sequences.ts";

/** Fewer than on other backends: every sequence opens a store of its own, and the cluster asks 64 shards for lists. */
describe.each([
  { ...redisUnderTest, sequences: 60 },
  { ...redisClusterUnderTest, sequences: 15 },
])("a store on $name", ({ sequences, ...backend }) => {
  test(`a store on Redis holds what a naive model that keeps whole copies holds, after each of ${sequences} sequences of up to 12 operations`, async () => {
    await matchesTheModel(backend, { sequences, commands: 12 });
  }, 600_000);
});
