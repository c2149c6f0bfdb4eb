/**
 * Plain JSON, the form in which values are stored, compared and patched. `JSON.parse(JSON.stringify(tree))` gives an
 * equal tree.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/**
 * How many levels a captured tree may have. V8 stringifies and parses a little over 3,000; the rest is room for the
 * callers' own stack and for the record around a state.
 */
export const depthLimit = 1_000;

/** How many levels a tree may have to be read: those of a captured tree, and those of the record around it. */
export const readableDepth: number = depthLimit + 16;

/** Tells whether a node stands for a value that JSON has no form for. */
export function isTagged(node: JsonObject): boolean {
  return node.$ !== undefined && Object.hasOwn(node, "$");
}

export function isObject(node: Json | undefined): node is JsonObject {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}

/** Tells whether two nodes have the same keys in the same order, with identical values. */
export function sameParts(node: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(other);
  let index = 0;
  for (const name of Object.keys(node)) {
    if (names[index++] !== name || !Object.is(node[name], other[name])) return false;
  }
  return index === names.length;
}
