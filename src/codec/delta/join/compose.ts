import type { Delta } from "../format.ts";
import { Net } from "./net.ts";

/**
 * One delta that does what these do one after the other. The arguments are left as they were; the result shares nodes
 * with them.
 *
 * @throws ThreadmarkError `CORRUPT` when a delta is malformed, or cannot follow those before it.
 */
export function compose(...deltas: readonly [first: Delta, second: Delta, ...others: Delta[]]): Delta {
  const net = new Net();
  for (const delta of deltas) net.add(delta);
  return net.delta();
}
