import { describe } from "vitest";
import { holdsToTheKit } from "./conformance.ts";
import { sqliteUnderTest } from "./locations.ts";

describe("a store on sqlite", () => holdsToTheKit(sqliteUnderTest));
