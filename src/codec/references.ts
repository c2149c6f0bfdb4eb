import { corruptTree } from "./corrupt.ts";
import type { Delta } from "./delta/format.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

/**
 * Stands in place of a large value that has a record of its own:
 *
 * `{ "$": { "$": "value", "v": name, "n": length, "d": [delta, …] } }`
 *
 * `n` is the length of the value's JSON. With `d`, the deltas are applied to the value in turn: whatever composes changes
 * works on references alone and never needs the value.
 *
 * Invariant: no captured value has this form. The tag of a captured node is a string; the field `$` of an escaped object
 * is an encoded value, and none of those has the tag "value".
 */
export type Reference = { $: { $: "value"; v: string; n: number; d?: Delta[] } };

/** The value of a reference: its name is the SHA-256 of its JSON, in base64url. */
export interface NamedValue {
  readonly name: string;
  /** The length of its JSON. */
  readonly length: number;
}

const NAME = /^[\w-]{43}$/;

export function isReference(node: Json | undefined): node is Reference {
  if (!isObject(node)) return false;
  const tag = node["$"];
  return tag !== undefined && isObject(tag) && tag["$"] === "value" && Object.hasOwn(node, "$");
}

export function referenceTo({ name, length }: NamedValue): Json {
  return { $: { $: "value", v: name, n: length } };
}

/** Returns a reference with one more change of its value. */
export function deferred({ $: tag }: Reference, delta: Delta): Json {
  return { $: { ...tag, d: [...(tag.d ?? []), delta] } } as unknown as Json;
}

/** Returns a reference with this change of its value in place of all earlier ones. */
export function withDeferred({ $: tag }: Reference, delta: Delta): Json {
  return { $: { ...tag, d: [delta] } } as unknown as Json;
}

/** Returns the value that a reference names. Throws `CORRUPT` where it names none. */
export function namedBy({ $: { v: name, n: length } }: Reference): NamedValue {
  if (typeof name !== "string" || !NAME.test(name) || !Number.isSafeInteger(length)) {
    return corruptTree("A reference to a large value is malformed");
  }
  return { name, length };
}

/**
 * A reference in JSON text. Quotes inside a string are escaped, so that a string cannot look like one, and a reference is
 * always written in this order.
 */
const IN_TEXT = /\{"\$":\{"\$":"value","v":"([\w-]{43})","n":(\d+)/g;

/** Tells whether JSON text may hold references: a cheap test before the text is searched or its tree is walked. */
export function mayRefer(text: string): boolean {
  return text.includes('{"$":{"$":"value","v":"');
}

/** Returns the values that JSON text refers to: their lengths by name. Nothing is parsed. */
export function namesIn(text: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  if (mayRefer(text)) for (const [, name, length] of text.matchAll(IN_TEXT)) names.set(name as string, Number(length));
  return names;
}

/** Adds the values that a tree or a delta refers to. */
export function addNames(tree: Json, names: Map<string, number>): void {
  if (typeof tree !== "object" || tree === null) return;
  if (isReference(tree)) {
    const { name, length } = namedBy(tree);
    names.set(name, length);
    if (tree.$.d) addNames(tree.$.d as Json, names);
  } else if (Array.isArray(tree)) {
    for (const item of tree) addNames(item, names);
  } else {
    for (const key in tree) addNames(tree[key] as Json, names);
  }
}

/** Returns the value of a reference, with its changes applied; the caller alone holds its nodes. */
export type Resolve = (reference: Reference) => Json;

/**
 * Replaces the references of a tree, or of a delta, by their values. Nodes around a reference are changed in place: the
 * caller alone must hold them.
 */
export function resolveOwned(tree: Json, resolve: Resolve): Json {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isReference(tree)) return resolve(tree);
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index += 1) {
      const item = tree[index] as Json;
      if (typeof item === "object" && item !== null) tree[index] = resolveOwned(item, resolve);
    }
    return tree;
  }
  for (const key of Object.keys(tree)) {
    const field = tree[key] as Json;
    // An own property is set, whatever its name: "__proto__" reaches no setter.
    if (typeof field === "object" && field !== null) tree[key] = resolveOwned(field, resolve);
  }
  return tree;
}

/** Replaces references likewise, in copies of the nodes around them: the given tree stays as it is. */
export function resolveCopied(tree: Json, resolve: Resolve): Json {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isReference(tree)) return resolve(tree);
  if (Array.isArray(tree)) {
    const items = tree.map((item) => resolveCopied(item, resolve));
    return items.every((item, index) => item === tree[index]) ? tree : items;
  }
  let copy: JsonObject | undefined;
  for (const key of Object.keys(tree)) {
    const field = tree[key] as Json;
    const now = resolveCopied(field, resolve);
    if (now === field) continue;
    copy ??= { ...tree };
    copy[key] = now;
  }
  return copy ?? tree;
}
