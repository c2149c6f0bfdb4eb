import type { Json } from "../../json.ts";
import type { Delta } from "../format.ts";

/** A delta that replaces the whole tree: a full frame. */
export type Replacement = { r: Json };

export function replacement(value: Json): Replacement {
  return { r: value };
}

export function isReplacement(delta: Delta): delta is Replacement {
  return Object.hasOwn(delta, "r");
}

/** Returns the tree that a replacement leaves behind. */
export function replacedBy(delta: Replacement): Json {
  return delta.r;
}
