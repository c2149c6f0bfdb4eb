import { randomBytes } from "node:crypto";
import { describe } from "vitest";
import { holdsToTheKit } from "../backends/support/conformance.ts";
import { type BackendUnderTest, fileUnderTest, memoryUnderTest } from "../support/places.ts";

/** Returns a backend on whose places every store is encrypted. */
function encrypted(backend: BackendUnderTest): BackendUnderTest {
  const encryption = { current: "one", keys: { one: randomBytes(32) } };
  return {
    ...backend,
    name: `encrypted ${backend.name}`,
    make: async () => {
      const place = await backend.make();
      return { ...place, options: { ...place.options, encryption } };
    },
  };
}

describe("an encrypted store on memory", () => holdsToTheKit(encrypted(memoryUnderTest)));
describe("an encrypted store on files", () => holdsToTheKit(encrypted(fileUnderTest)));
