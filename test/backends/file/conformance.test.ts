import { describe } from "vitest";
import { fileUnderTest } from "../../support/places.ts";
import { holdsToTheKit } from "../support/conformance.ts";

describe("a store on file", () => holdsToTheKit(fileUnderTest));
