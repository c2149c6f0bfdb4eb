import type { KnownClass, MessageClass } from "./classes.ts";
import type { StoredInstance } from "./instances.ts";
import { hasPlainFields, isPlainArray } from "./plain-objects.ts";

/** The stored form of a message. */
export type MessageNode = StoredInstance & Record<string, unknown>;

export type Fields = Record<string, unknown>;

/** The property names of a message and the roles of its properties, shared by all messages that are alike in them. */
export interface MessageLayout {
  /** The names of a message's properties. */
  readonly names: readonly string[];
  /** The names in its `lc_kwargs`, and for each the index of the property that holds the same value. */
  readonly kwargsNames: readonly string[];
  readonly kwargsProperties: readonly number[];
  /** The indexes of properties that are `{}`, and of properties that are `[]`. */
  readonly objects: readonly number[];
  readonly lists: readonly number[];
}

/** A message's node, and everything that the node was made from. */
export interface MessageSnapshot {
  readonly layout: MessageLayout;
  readonly kwargs: Fields;
  readonly node: MessageNode;
  /** The values of the message's properties, then the contents of objects and lists in them: see {@link frozenCopy}. */
  readonly values: readonly unknown[];
}

/** Takes a snapshot of a message of plain data, with a frozen copy of its node; returns undefined for other messages. */
export function takeSnapshot(message: Fields, known: KnownClass, node: MessageNode): MessageSnapshot | undefined {
  const parts: unknown[] = [];
  const copy: Fields = {};
  for (const key in node) {
    const value = node[key];
    // A converted value differs from the message's own, so that no later comparison could vouch for it.
    const kept = typeof value !== "object" || value === message[key] ? frozenCopy(value, parts) : undefined;
    if (kept === undefined) return undefined;
    copy[key] = kept;
  }
  const layout = layoutOf(message, known, node);
  return {
    layout,
    kwargs: message["lc_kwargs"] as Fields,
    node: Object.freeze(copy) as MessageNode,
    values: [...layout.names.map((name) => message[name]), ...parts],
  };
}

/** The most values of a snapshot: comparing more is not worth it, and a message may contain itself. */
const mostParts = 400;

/**
 * Returns a frozen copy of plain data, or undefined for anything else. Adds to `parts`, for every object in it, the object,
 * its names and its values; for every list the list, its length and its elements.
 */
function frozenCopy(value: unknown, parts: unknown[]): unknown {
  if (typeof value !== "object" || value === null) return isJson(value) ? value : undefined;
  if (Array.isArray(value)) {
    if (parts.length + value.length > mostParts) return undefined;
    if (Object.getPrototypeOf(value) !== Array.prototype || !isPlainArray(value)) return undefined;
    parts.push(value, value.length, ...(value as unknown[]));
    const copy: unknown[] = [];
    for (const element of value as unknown[]) {
      const kept = frozenCopy(element, parts);
      if (kept === undefined) return undefined;
      copy.push(kept);
    }
    return Object.freeze(copy);
  }
  const names = Object.keys(value);
  if (parts.length + names.length > mostParts) return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype || !hasPlainFields(value)) return undefined;
  // The store escapes objects with a key "$", and `__proto__` would set a prototype.
  if (names.includes("$") || names.includes("__proto__")) return undefined;
  const copy: Fields = { ...value };
  parts.push(value, sharedNames(names), ...names.map((name) => copy[name]));
  for (const name of names) {
    const kept = frozenCopy(copy[name], parts);
    if (kept === undefined) return undefined;
    copy[name] = kept;
  }
  return Object.freeze(copy);
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

const namesByKey = new Map<string, readonly string[]>();
const mostNames = 1_000;

/** Returns one list of names for all objects that have the same, to save memory. */
function sharedNames(names: readonly string[]): readonly string[] {
  const key = JSON.stringify(names);
  const shared = namesByKey.get(key);
  if (shared !== undefined) return shared;
  if (namesByKey.size >= mostNames) namesByKey.clear();
  namesByKey.set(key, names);
  return names;
}

const layouts = new WeakMap<MessageClass["made"], Map<string, MessageLayout>>();

function layoutOf(
  message: Fields,
  { keys: names, fields, message: kind }: KnownClass,
  node: MessageNode,
): MessageLayout {
  const { made } = kind as MessageClass;
  const objects: number[] = [];
  const lists: number[] = [];
  for (const { key } of fields) {
    const value = message[key];
    if (typeof value !== "object" || value === null || Object.hasOwn(node, key)) continue;
    (Array.isArray(value) ? lists : objects).push(names.indexOf(key));
  }
  let known = layouts.get(made);
  if (known === undefined) {
    known = new Map();
    layouts.set(made, known);
  }
  const empty = `${objects} ${lists}`;
  let layout = known.get(empty);
  if (layout === undefined) {
    const { keys: kwargsNames } = made;
    layout = { names, kwargsNames, kwargsProperties: kwargsNames.map((name) => names.indexOf(name)), objects, lists };
    known.set(empty, layout);
  }
  return layout;
}

/**
 * Tells whether a message still has every value of its snapshot, which lies in `values` from `first` to `end`. Compares every
 * part, since messages are changed in place, and walks the parts in their order, which is faster than reading them by name:
 * there are many classes of messages.
 */
export function isUnchanged(
  message: Fields,
  kwargs: Fields,
  layout: MessageLayout,
  values: readonly unknown[],
  first: number,
  end: number,
): boolean {
  const { names, kwargsNames, kwargsProperties, objects, lists } = layout;
  if (!hasValues(message, names, values, first)) return false;
  let count = 0;
  for (const name in kwargs) {
    if (kwargsNames[count] !== name || !Object.is(kwargs[name], values[first + (kwargsProperties[count] as number)]))
      return false;
    count++;
  }
  if (count !== kwargsNames.length) return false;
  for (let index = 0; index < lists.length; index++) {
    if ((values[first + (lists[index] as number)] as readonly unknown[]).length !== 0) return false;
  }
  for (let index = 0; index < objects.length; index++) {
    for (const _name in values[first + (objects[index] as number)] as object) return false;
  }
  const parts = first + names.length;
  return parts === end || arePartsUnchanged(values, parts, end);
}

/** Tells whether an object has exactly these names, and the values that begin at `first`. */
function hasValues(object: Fields, names: readonly string[], values: readonly unknown[], first: number): boolean {
  let count = 0;
  for (const name in object) {
    if (names[count] !== name || !Object.is(object[name], values[first + count])) return false;
    count++;
  }
  return count === names.length;
}

/** Tells whether all objects and lists of a snapshot have their contents still. */
function arePartsUnchanged(values: readonly unknown[], first: number, end: number): boolean {
  let at = first;
  while (at < end) {
    const names = values[at + 1] as number | readonly string[];
    if (typeof names === "number") {
      const list = values[at] as readonly unknown[];
      if (list.length !== names) return false;
      at += 2;
      for (let index = 0; index < names; index++) if (!Object.is(list[index], values[at + index])) return false;
      at += names;
    } else {
      if (!hasValues(values[at] as Fields, names, values, at + 2)) return false;
      at += 2 + names.length;
    }
  }
  return true;
}
