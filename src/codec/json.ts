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
