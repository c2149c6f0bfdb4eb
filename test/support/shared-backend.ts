import type { Backend } from "../../src/backend.ts";
import { forwarding, type Overrides } from "../../src/testing/index.ts";

/** Returns a view of a backend that outlives the stores opened on it: closing a store leaves it open. */
export function sharedBackend(backend: Backend, overrides: Overrides = {}): Backend {
  return forwarding(backend, { close: async () => {}, ...overrides });
}
