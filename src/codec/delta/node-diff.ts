import type { Json } from "../json.ts";
import type { Delta } from "./format.ts";
import { sizeOf } from "./measure.ts";

/**
 * The result of comparing two nodes. `gain` is how many characters the delta saves over the new value. Counting stops
 * once the delta pays: then `exact` is false and `gain` is a lower bound.
 */
export interface NodeDiff {
  /** Undefined where the node is replaced as a whole; `gain` is then 0. */
  readonly delta: Delta | undefined;
  readonly gain: number;
  readonly exact: boolean;
}

export type Compare = (before: Json, after: Json, depth: number) => NodeDiff | undefined;

export const replaced: NodeDiff = { delta: undefined, gain: 0, exact: true };

/** Counting stops at this gain. */
export const enough = 1_024;

/** Returns the delta, or `replaced` where the new value takes no more characters than the delta. */
export function orReplaced(delta: Delta, after: Json, gain: number, exact: boolean): NodeDiff {
  if (gain > 0) return { delta, gain, exact };
  if (exact) return replaced;
  const size = sizeOf(delta as Json, Number.POSITIVE_INFINITY);
  const exactGain = sizeOf(after, size + enough) - size;
  return exactGain > 0 ? { delta, gain: exactGain, exact: exactGain < enough } : replaced;
}
