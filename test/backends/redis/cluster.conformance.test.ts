import { describe } from "vitest";
import { redisClusterUnderTest } from "../../support/places.ts";
import { holdsToTheKit } from "../support/conformance.ts";

describe("a store on a Redis Cluster", () => holdsToTheKit(redisClusterUnderTest));
