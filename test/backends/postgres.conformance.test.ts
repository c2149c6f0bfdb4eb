import { describe } from "vitest";
import { holdsToTheKit } from "./conformance.ts";
import { postgresUnderTest } from "./locations.ts";

describe("a store on postgres", () => holdsToTheKit(postgresUnderTest));
