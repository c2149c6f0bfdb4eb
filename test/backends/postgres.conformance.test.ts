import { describe } from "vitest";
import { filePool, reusedPostgres } from "../postgres/places.ts";
import { holdsToTheKit } from "./conformance.ts";
import { postgresUnderTest } from "./locations.ts";

const pool = await filePool();

describe("a store on postgres", () => holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres({ pool }) }));
