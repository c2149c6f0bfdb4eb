import { describe } from "vitest";
import { sqliteUnderTest } from "../../support/places.ts";
import { holdsToTheKit } from "../support/conformance.ts";

describe("a store on sqlite", () => holdsToTheKit(sqliteUnderTest));
