import { isTagged, type Json } from "../json.ts";
import { type Delta, isObject, kindOf } from "./format.ts";

/** Told of a value that a change has put into a tree, or has altered, and of how deep in the tree it stands. */
export type OnTouched = (node: Json, depth: number) => void;

/**
 * Finds what a change has touched of `tree`, which is the tree after the change: where every earlier tree of a history was
 * looked at, only that much can be wrong with this one. An append to a long list touches what it appends. A value with a
 * tag is touched as a whole, since the tag says how to read all that is inside.
 */
export function visitTouched(tree: Json, delta: Delta, onTouched: OnTouched, depth = 0): void {
  const kind = kindOf(delta, depth);
  const apart = isObject(tree) && !isTagged(tree) && !delta.u?.includes("$");
  if (kind === "object" && apart) visitObject(tree, delta, onTouched, depth);
  else if (kind === "array" && Array.isArray(tree) && delta.x === undefined) visitArray(tree, delta, onTouched, depth);
  else if (kind !== "nothing") onTouched(tree, depth);
}

function visitObject(tree: { [key: string]: Json }, delta: Delta, onTouched: OnTouched, depth: number): void {
  for (const key of Object.keys(delta.s ?? {})) onTouched(tree[key] as Json, depth + 1);
  for (const [key, change] of Object.entries(delta.d ?? {})) {
    visitTouched(tree[key] as Json, change, onTouched, depth + 1);
  }
}

function visitArray(tree: readonly Json[], delta: Delta, onTouched: OnTouched, depth: number): void {
  for (const [index, change] of delta.e ?? []) visitTouched(tree[index] as Json, change, onTouched, depth + 1);
  const pushed = delta.p?.length ?? 0;
  for (let index = tree.length - pushed; index < tree.length; index += 1) onTouched(tree[index] as Json, depth + 1);
}
