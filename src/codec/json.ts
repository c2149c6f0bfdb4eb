/** Plain JSON: what is stored, compared and patched. `JSON.parse(JSON.stringify(tree))` gives an equal tree. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/**
 * How many levels a captured tree may have. V8 stringifies and parses a little over 3,000; the rest is room for the
 * callers' own stack and for what is wrapped around a state.
 */
export const depthLimit = 1_000;

/** How many levels a tree may have to be read: what could be captured, and what may be wrapped around it. */
export const readableDepth: number = depthLimit + 16;

/** Whether a node stands for a value that JSON has no form for. */
export function isTagged(node: JsonObject): boolean {
  return node.$ !== undefined && Object.hasOwn(node, "$");
}

export function isObject(node: Json | undefined): node is JsonObject {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}

/** Whether two nodes have the same keys in the same order, and in each the very same part. */
export function sameParts(node: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(other);
  let index = 0;
  for (const name of Object.keys(node)) {
    if (names[index++] !== name || !Object.is(node[name], other[name])) return false;
  }
  return index === names.length;
}
