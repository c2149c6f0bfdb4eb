import { randomBytes } from "node:crypto";
import type { BackendUnderTest } from "../../support/places.ts";

/** Returns a backend on whose places every store is encrypted. */
export function encrypted(backend: BackendUnderTest): BackendUnderTest {
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
