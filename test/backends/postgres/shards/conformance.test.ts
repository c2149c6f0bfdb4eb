import { describe } from "vitest";
import { postgresUnderTest } from "../../../support/places.ts";
import { filePool, reusedPostgres } from "../../../support/postgres/places.ts";
import { holdsToTheKit } from "../../support/conformance.ts";

const pool = await filePool();

describe("a store on postgres with 2 shards, compacted online", () => {
  holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres({ pool, shards: 2, compact: "online" }) });
});
