import { isObject, type Json } from "../../json.ts";
import { isReference } from "../../references.ts";
import { type Delta, maximumDepth } from "../format.ts";
import { same } from "../measure.ts";
import { type NodeDiff, replaced } from "../node-diff.ts";
import { diffArray } from "./array.ts";
import { diffObject } from "./object.ts";
import { replacement } from "./replacement.ts";
import { diffText } from "./text.ts";

/**
 * Returns the delta from one tree to another, or undefined when they are equal, key order included. Identical nodes are
 * skipped without a look inside. The delta shares nodes with `after`. `depth` is the number of levels above the trees,
 * where the delta becomes part of a larger one: no delta is nested deeper than a reader follows.
 *
 * @example
 * diff({ n: 1, log: ["a"] }, { n: 2, log: ["a", "b"] }) // { s: { n: 2 }, d: { log: { p: ["b"] } } }
 */
export function diff(before: Json, after: Json, depth = 0): Delta | undefined {
  const change = compare(before, after, depth);
  if (change === undefined) return undefined;
  return change.delta ?? replacement(after);
}

function compare(before: Json, after: Json, depth: number): NodeDiff | undefined {
  if (before === after) return undefined;
  if (typeof before === "string" && typeof after === "string") return diffText(before, after);
  if (depth >= maximumDepth) return same(before, after) ? undefined : replaced;
  if (Array.isArray(before) && Array.isArray(after)) return diffArray(before, after, depth, compare);
  // A reference is one value: a change of its parts would be taken for a change of the value.
  if (isReference(before) || isReference(after)) return same(before, after) ? undefined : replaced;
  if (isObject(before) && isObject(after)) return diffObject(before, after, depth, compare);
  return replaced;
}
