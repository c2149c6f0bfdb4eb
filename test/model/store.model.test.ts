import { describe, test } from "vitest";
import { locations } from "../backends/locations.ts";
import { matchesTheModel } from "./sequences.ts";

/** Enough to meet every pair of operations many times, few enough for every run of the tests. */
const sequences = 250;

describe.each(locations)("a store on $name", (backend) => {
  test("holds what a naive model that keeps whole copies holds, after any sequence of operations", async () => {
    await matchesTheModel(backend, { sequences: Math.ceil(sequences * backend.share), commands: 40 });
  }, 600_000);
});
