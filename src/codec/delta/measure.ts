import type { Json } from "../json.ts";

/** Tells whether two trees are equal, key order included. Identical nodes are not looked into. */
export function same(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) {
      if (!same(one[index] as Json, other[index] as Json)) return false;
    }
    return true;
  }
  if (Array.isArray(other)) return false;
  const keys = Object.keys(one);
  const others = Object.keys(other);
  if (keys.length !== others.length) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (key !== others[index] || !same(one[key] as Json, other[key] as Json)) return false;
  }
  return true;
}

/**
 * Returns about how many characters the tree takes as JSON (without escapes), or any number from `limit` up once
 * `limit` is reached: measuring a large tree against a small one costs as much as the small one.
 */
export function sizeOf(tree: Json, limit: number): number {
  if (typeof tree === "string") return tree.length + 2;
  if (typeof tree === "number") return Number.isSafeInteger(tree) ? digits(tree) : String(tree).length;
  if (typeof tree !== "object" || tree === null) return tree === false ? 5 : 4;
  let size = 1;
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index += 1) {
      size += 1 + sizeOf(tree[index] as Json, limit - size);
      if (size >= limit) return size;
    }
  } else {
    // Trees have no inherited keys, and this makes no list of the own ones.
    for (const key in tree) {
      size += key.length + 4 + sizeOf(tree[key] as Json, limit - size);
      if (size >= limit) return size;
    }
  }
  return size === 1 ? 2 : size;
}

/** Returns how many characters a whole number takes. */
export function digits(value: number): number {
  let rest = Math.abs(value);
  let count = value < 0 ? 2 : 1;
  while (rest >= 10) {
    rest /= 10;
    count++;
  }
  return count;
}

/**
 * Tells whether `part` stands in `text` at a position. Comparing a slice is many times faster than String's own
 * startsWith.
 */
export function startsWith(text: string, part: string, position = 0): boolean {
  return text.slice(position, position + part.length) === part;
}
