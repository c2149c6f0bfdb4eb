import { describe } from "vitest";
import { memoryUnderTest } from "../../support/places.ts";
import { holdsToTheKit } from "../support/conformance.ts";

describe("a store on memory", () => holdsToTheKit(memoryUnderTest));
