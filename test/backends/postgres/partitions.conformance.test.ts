import { describe } from "vitest";
import { reusedPostgres } from "../../postgres/places.ts";
import { holdsToTheKit } from "../conformance.ts";
import { postgresUnderTest } from "../locations.ts";

describe("a store on postgres in 16 hash partitions", () => {
  holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres({ partitions: 16 }) });
});
