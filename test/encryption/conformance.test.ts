import { describe } from "vitest";
import { holdsToTheKit } from "../backends/support/conformance.ts";
import { fileUnderTest, memoryUnderTest } from "../support/places.ts";
import { encrypted } from "./support/encrypted.ts";

describe("an encrypted store on memory", () => holdsToTheKit(encrypted(memoryUnderTest)));
describe("an encrypted store on files", () => holdsToTheKit(encrypted(fileUnderTest)));
