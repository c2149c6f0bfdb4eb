import { isObject, isTagged, type Json } from "../json.ts";
import { type Delta, kindOf } from "./format.ts";

/** Receives a value that a change put into a tree or altered, and its depth in the tree. */
export type OnTouched = (node: Json, depth: number) => void;

/**
 * Visits the parts of `tree` (the tree after the change) that the change touched. If every earlier tree of a history
 * was checked, only those can be wrong. An append to a long list touches the appended elements alone. A tagged value is
 * touched as a whole, since its tag decides how everything inside is read.
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
