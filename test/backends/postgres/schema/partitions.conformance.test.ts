import { describe } from "vitest";
import { postgresUnderTest } from "../../../support/places.ts";
import { filePool, reusedPostgres } from "../../../support/postgres/places.ts";
import { holdsToTheKit } from "../../support/conformance.ts";

const pool = await filePool();

describe("a store on postgres in 16 hash partitions, in a pool of the application's, compacted online", () => {
  // Rewriting 176 tables takes a second, every time: the cases of the contract (partitions.test.ts) do it.
  holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres({ pool, partitions: 16, compact: "online" }) });
});
