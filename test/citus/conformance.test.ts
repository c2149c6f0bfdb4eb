import { describe } from "vitest";
import { holdsToTheKit } from "../backends/support/conformance.ts";
import { citusUnderTest, shards } from "./support/places.ts";

describe(`a store on Citus with ${shards} shards, compacted online`, () => holdsToTheKit(citusUnderTest));
