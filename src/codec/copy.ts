import { corruptTree } from "./corrupt.ts";
import type { Json, JsonObject } from "./json.ts";
import { readableDepth } from "./json.ts";

/** Returns a copy of a tree that shares no object with it. Tags are copied as they are. */
export function copyJson(tree: Json): Json {
  return copy(tree, 0, false);
}

/**
 * Returns a copy of a tree that shares only frozen objects with it. Later captures recognise those by identity, so the
 * copy is for the engine to keep, not for a caller.
 */
export function copyToKeep(tree: Json): Json {
  return copy(tree, 0, true);
}

function copy(node: Json, depth: number, keepsFrozen: boolean): Json {
  if (typeof node !== "object" || node === null || (keepsFrozen && Object.isFrozen(node))) return node;
  if (depth >= readableDepth) return corruptTree("A stored value is nested too deeply");
  if (Array.isArray(node)) return copyElements(node, depth + 1, keepsFrozen);
  const result: JsonObject = { ...node };
  for (const key in result) {
    const field = result[key]!;
    if (typeof field === "object" && field !== null && Object.hasOwn(result, key))
      result[key] = copy(field, depth + 1, keepsFrozen);
  }
  return result;
}

function copyElements(node: readonly Json[], depth: number, keepsFrozen: boolean): Json[] {
  const result = node.slice();
  for (let index = 0; index < result.length; index++) {
    const element = result[index]!;
    if (typeof element === "object" && element !== null) result[index] = copy(element, depth, keepsFrozen);
  }
  return result;
}
