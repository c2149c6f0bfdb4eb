import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Delta } from "./format.ts";
import { sizeOf } from "./measure.ts";

/**
 * Returns about how many characters of JSON a delta adds to the tree it applies to; negative if it takes more away. Of a
 * value from `large` on, `large` characters count: it is stored by itself, whatever its length. It costs what the delta writes and removes,
 * whatever the size of the tree.
 */
export function growthOf(delta: Delta, before: Json, large: number = Number.POSITIVE_INFINITY): number {
  if (delta.r !== undefined) return whole(delta.r, large) - whole(before, large);
  if (Array.isArray(before)) return growthOfList(delta, before, large);
  if (isObject(before)) return growthOfObject(delta, before, large);
  let growth = delta.a?.length ?? 0;
  for (const [, removed, text] of delta.t ?? []) growth += text.length - removed;
  return growth;
}

function growthOfObject({ u = [], s, d }: Delta, before: JsonObject, large: number): number {
  let growth = 0;
  for (const key of u) if (Object.hasOwn(before, key)) growth -= key.length + 4 + whole(before[key] as Json, large);
  if (s !== undefined) {
    for (const key of Object.keys(s)) {
      growth += whole(s[key] as Json, large);
      // A key that is removed first was taken off already.
      if (!Object.hasOwn(before, key) || u.includes(key)) growth += key.length + 4;
      else growth -= whole(before[key] as Json, large);
    }
  }
  if (d !== undefined) {
    for (const key of Object.keys(d)) growth += growthOf(d[key] as Delta, before[key] as Json, large);
  }
  return growth;
}

function growthOfList({ e = [], x = [], p = [] }: Delta, before: readonly Json[], large: number): number {
  let growth = 0;
  for (const [index, change] of e) growth += growthOf(change, before[index] as Json, large);
  for (const [start, removed, ...items] of x) {
    for (let index = start; index < start + removed; index += 1) growth -= 1 + whole(before[index] as Json, large);
    for (const item of items) growth += 1 + whole(item, large);
  }
  for (const item of p) growth += 1 + whole(item, large);
  return growth;
}

function whole(tree: Json, large: number): number {
  return Math.min(sizeOf(tree, large), large);
}
