import { corruptTree } from "../corrupt.ts";
import { type Json, readableDepth } from "../json.ts";

/** Deltas have up to three levels of JSON for each level of the tree that they change. */
const deltaDepth = 2 * readableDepth;

/** Refuses a tree with more levels than a value may have; `depth` is the number of levels above it. */
export function checkDepth(node: Json, depth: number, limit: number = readableDepth): void {
  if (typeof node !== "object" || node === null) return;
  if (depth >= limit) corruptTree("A stored value is nested too deeply");
  for (const child of Array.isArray(node) ? node : Object.values(node)) checkDepth(child, depth + 1, limit);
}

/**
 * Tells whether a tree, or a change of a tree, contains a tag. Refuses levels beyond those that can be stringified
 * again.
 */
export function hasTags(node: Json, depth = 0): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (depth >= deltaDepth) return corruptTree("A stored value is nested too deeply");
  let tagged = !Array.isArray(node) && Object.hasOwn(node, "$");
  for (const child of Array.isArray(node) ? node : Object.values(node)) {
    if (hasTags(child, depth + 1)) tagged = true;
  }
  return tagged;
}
