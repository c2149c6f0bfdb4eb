import type { Backend } from "../../backend.ts";
import { memory } from "../../backends/memory/index.ts";
import { forwarding } from "./forwarding.ts";

/**
 * Returns a place in memory that outlives the stores opened on it, so that a test can open it again. A `memory:` store
 * ends when it is closed.
 *
 * @example
 * const place = sharedMemory();
 * await (await open(place)).close();
 * const again = await open(place);
 */
export function sharedMemory(): Backend {
  return forwarding(memory(), { close: async () => {} });
}
