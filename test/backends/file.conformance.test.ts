import { describe } from "vitest";
import { holdsToTheKit } from "./conformance.ts";
import { fileUnderTest } from "./locations.ts";

describe("a store on file", () => holdsToTheKit(fileUnderTest));
