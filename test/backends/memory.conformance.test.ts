import { describe } from "vitest";
import { holdsToTheKit } from "./conformance.ts";
import { memoryUnderTest } from "./locations.ts";

describe("a store on memory", () => holdsToTheKit(memoryUnderTest));
