import { util } from "../builtin.ts";

const { types } = util;

// Unlike a descriptor, these make no object: a new node is checked at a fraction of the cost.
const { __lookupGetter__: lookupGetter, __lookupSetter__: lookupSetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown;
  readonly __lookupSetter__: (this: object, key: PropertyKey) => unknown;
};

/** Up to this many elements an array is also searched for hidden properties, which makes a string of every index. */
const searchedElements = 256;

/** Whether an own property is an accessor. Does not run its getter. */
export function isAccessor(value: object, key: PropertyKey): boolean {
  if (lookupGetter.call(value, key) !== undefined) return true;
  const read: unknown = (value as Record<PropertyKey, unknown>)[key];
  return read === undefined && lookupSetter.call(value, key) !== undefined;
}

/**
 * The keys of an object all of whose own properties are named by strings and enumerable; they may be accessors.
 * `enumerable` is the number of enumerable ones, if it is known.
 */
export function ordinaryNames(value: object, enumerable?: number): string[] | undefined {
  if (types.isProxy(value)) return undefined;
  const names = Object.getOwnPropertyNames(value);
  const ordinary = names.length === (enumerable ?? Object.keys(value).length);
  return ordinary && Object.getOwnPropertySymbols(value).length === 0 ? names : undefined;
}

/** The first own property that is named by a symbol or not enumerable; undefined if the object itself is at fault. */
export function unordinaryKey(value: object): PropertyKey | undefined {
  if (types.isProxy(value)) return undefined;
  const { propertyIsEnumerable } = Object.prototype;
  return Reflect.ownKeys(value).find((key) => typeof key === "symbol" || !propertyIsEnumerable.call(value, key));
}

/** Whether an array has all its elements and nothing else. Elements may still be accessors. */
export function hasOnlyElements(value: readonly unknown[]): boolean {
  if (types.isProxy(value)) return false;
  if (value.length <= searchedElements) return hasOnlyOrdinaryElements(value);
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const full = isFull(value);
  if (full !== undefined) return full;
  const { length } = value;
  // Indices are listed first, in order: if the last key is the last index, there is neither a hole nor another key.
  const keys = Object.keys(value);
  return keys.length === length && keys[length - 1] === String(length - 1);
}

/** Counts values, in a third of the time of counting keys, for which every index is made a string. Undefined: keys tell. */
function isFull(value: readonly unknown[]): boolean | undefined {
  try {
    if (Object.values(value).length !== value.length) return false;
    // A hole, which would make up for another key, reads as undefined.
    return value.includes(undefined) ? undefined : true;
  } catch {
    // A getter threw. Whoever looks at the elements names it.
    return undefined;
  }
}

/** An array's own names are its indices in order, then "length", then all others; its keys those that are enumerable. */
function hasOnlyOrdinaryElements(value: readonly unknown[]): boolean {
  const { length } = value;
  const { propertyIsEnumerable } = Object.prototype;
  for (let index = 0; index < length; index++) if (!propertyIsEnumerable.call(value, index)) return false;
  return Object.getOwnPropertyNames(value).length === length + 1 && Object.getOwnPropertySymbols(value).length === 0;
}

/** The first key that an array should not have, or the first index that it lacks; undefined if the array is at fault. */
export function strayKey(value: readonly unknown[]): { readonly key: PropertyKey; readonly hole: boolean } | undefined {
  if (types.isProxy(value)) return undefined;
  for (let index = 0; index < value.length; index++) {
    if (!Object.hasOwn(value, index)) return { key: index, hole: true };
    if (!Object.prototype.propertyIsEnumerable.call(value, index)) return { key: index, hole: false };
  }
  const key = Reflect.ownKeys(value).find((name, index) => index >= value.length && name !== "length");
  return key === undefined ? undefined : { key, hole: false };
}
