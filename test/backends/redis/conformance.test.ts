import { describe } from "vitest";
import { redisUnderTest } from "../../support/places.ts";
import { holdsToTheKit } from "../support/conformance.ts";

describe("a store on Redis", () => holdsToTheKit(redisUnderTest));
