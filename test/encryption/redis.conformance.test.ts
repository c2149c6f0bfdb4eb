import { describe } from "vitest";
import { holdsToTheKit } from "../backends/support/conformance.ts";
import { redisUnderTest } from "../support/places.ts";
import { encrypted } from "./support/encrypted.ts";

describe("an encrypted store on Redis", () => holdsToTheKit(encrypted(redisUnderTest)));
