import type { Delta } from "../format.ts";
import { Net } from "./net.ts";

/**
 * Returns a delta with the effect of these in sequence. The arguments stay unchanged; the result shares nodes with
 * them.
 *
 * @throws ThreadmarkError `CORRUPT` when a delta is malformed, or cannot follow those before it.
 */
export function compose(...deltas: readonly [first: Delta, second: Delta, ...others: Delta[]]): Delta {
  const net = new Net();
  for (const delta of deltas) net.add(delta);
  return net.delta();
}
