import { describe } from "vitest";
import { reusedPostgres } from "../postgres/places.ts";
import { holdsToTheKit } from "./conformance.ts";
import { postgresUnderTest } from "./locations.ts";

describe("a store on postgres", () => holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres() }));
