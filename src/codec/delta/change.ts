import type { Json } from "../json.ts";
import type { Delta } from "./format.ts";
import { sizeOf } from "./measure.ts";

/**
 * What a comparison of two nodes found. `gain` is by how many characters the delta is smaller than the new value. It is
 * counted from what did not change, only until it is clear that it pays: then `exact` is false and `gain` a lower bound.
 */
export interface Change {
  /** Undefined: replace the node; the value is then written either way, and `gain` is 0. */
  readonly delta: Delta | undefined;
  readonly gain: number;
  readonly exact: boolean;
}

export type Compare = (before: Json, after: Json, depth: number) => Change | undefined;

export const replaced: Change = { delta: undefined, gain: 0, exact: true };

/** A gain beyond this is not counted further. */
export const enough = 1_024;

/** The change, unless replacing the node by `after` takes no more than `delta`. */
export function orReplaced(delta: Delta, after: Json, gain: number, exact: boolean): Change {
  if (gain > 0) return { delta, gain, exact };
  if (exact) return replaced;
  const size = sizeOf(delta as Json, Number.POSITIVE_INFINITY);
  const exactGain = sizeOf(after, size + enough) - size;
  return exactGain > 0 ? { delta, gain: exactGain, exact: exactGain < enough } : replaced;
}
