import { corrupt } from "../corrupt.ts";
import { type Json, readableDepth } from "../json.ts";

/** Deltas have up to three levels of JSON for each level of the tree that they change. */
const deltaDepth = 2 * readableDepth;

/** Refuses a tree with more levels than a value may have; `depth` says how many stand above it. */
export function checkDepth(node: Json, depth: number, limit: number = readableDepth): void {
  if (typeof node !== "object" || node === null) return;
  if (depth >= limit) corrupt("A stored value is nested too deeply");
  for (const child of Array.isArray(node) ? node : Object.values(node)) checkDepth(child, depth + 1, limit);
}

/**
 * Tells whether there is a tag anywhere in a tree, or in a change of one. Refuses levels beyond what can be stringified
 * again.
 */
export function hasTags(node: Json, depth = 0): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (depth >= deltaDepth) return corrupt("A stored value is nested too deeply");
  let tagged = !Array.isArray(node) && Object.hasOwn(node, "$");
  for (const child of Array.isArray(node) ? node : Object.values(node)) {
    if (hasTags(child, depth + 1)) tagged = true;
  }
  return tagged;
}
