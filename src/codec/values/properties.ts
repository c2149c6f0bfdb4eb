import { util } from "../../platform/node-builtins.ts";
import { isDisguised } from "./built-in.ts";

const { inspect, types } = util;

// Unlike a property descriptor, these allocate nothing, so a new node is checked at a fraction of the cost.
const { __lookupGetter__: lookupGetter, __lookupSetter__: lookupSetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown;
  readonly __lookupSetter__: (this: object, key: PropertyKey) => unknown;
};

/** Up to this many elements, listing all properties of an array (which makes a string of every index) is faster. */
const searchedElements = 64;

/** Tells whether an own property is an accessor. Does not run its getter. */
export function isAccessor(value: object, key: PropertyKey): boolean {
  if (lookupGetter.call(value, key) !== undefined) return true;
  const read: unknown = (value as Record<PropertyKey, unknown>)[key];
  return read === undefined && lookupSetter.call(value, key) !== undefined;
}

/**
 * Returns the keys of an object whose own properties are all enumerable and named by strings; they may be accessors.
 * `enumerable` is the number of enumerable properties, if known.
 */
export function ordinaryNames(value: object, enumerable?: number): string[] | undefined {
  if (types.isProxy(value)) return undefined;
  const names = Object.getOwnPropertyNames(value);
  const ordinary = names.length === (enumerable ?? Object.keys(value).length);
  if (!ordinary || Object.getOwnPropertySymbols(value).length > 0) return undefined;
  return isDisguised(value, names) ? undefined : names;
}

/**
 * Returns the first own property that is named by a symbol or not enumerable; undefined if the object itself is at
 * fault.
 */
export function unordinaryKey(value: object): PropertyKey | undefined {
  if (types.isProxy(value)) return undefined;
  const { propertyIsEnumerable } = Object.prototype;
  return Reflect.ownKeys(value).find((key) => typeof key === "symbol" || !propertyIsEnumerable.call(value, key));
}

/** Tells whether an array has all its elements and nothing else. Elements may still be accessors. */
export function hasOnlyElements(value: readonly unknown[]): boolean {
  if (types.isProxy(value)) return false;
  if (value.length <= searchedElements) return hasOnlyOrdinaryElements(value);
  return hasOnlyIndices(value) && isFull(value);
}

/**
 * Tells whether an array has no own properties but its elements and its length. In Node, only `inspect` lists the
 * properties of an array without making a string of every index. With its elements hidden, an array prints as its
 * length alone, like an array of holes; if it prints otherwise, it has more properties.
 */
function hasOnlyIndices(value: readonly unknown[]): boolean {
  const { length } = value;
  const prototype: unknown = Object.getPrototypeOf(value);
  shownBare ??= inspect(new Array(SOME_LENGTH), withoutElements).split(String(SOME_LENGTH));
  const shown = inspect(value, withoutElements);
  if (prototype === Array.prototype) return shown === shownBare.join(String(length));
  // An array of another realm prints with the name of its class.
  return shown === inspect(Object.setPrototypeOf(new Array(length), prototype as object), withoutElements);
}

const SOME_LENGTH = 12_345;
let shownBare: readonly string[] | undefined;

const withoutElements = {
  ...{ showHidden: true, customInspect: false, getters: false, colors: false, sorted: false, showProxy: false },
  // Explicit, since a program may have changed the defaults.
  ...{ compact: 3, numericSeparator: false },
  ...{ maxArrayLength: 0, maxStringLength: 0, depth: 0, breakLength: Number.POSITIVE_INFINITY },
};

/**
 * Tells whether there are as many enumerable elements as the array is long. Counting values takes a third of the time
 * of counting keys.
 */
function isFull(value: readonly unknown[]): boolean {
  try {
    return Object.values(value).length === value.length;
  } catch {
    // A getter threw; the check of the elements names it.
    return Object.keys(value).length === value.length;
  }
}

/** Compares keys with own names: the own names of an array are its indices in order, then "length", then all others. */
function hasOnlyOrdinaryElements(value: readonly unknown[]): boolean {
  const { length } = value;
  const { propertyIsEnumerable } = Object.prototype;
  for (let index = 0; index < length; index++) if (!propertyIsEnumerable.call(value, index)) return false;
  return Object.getOwnPropertyNames(value).length === length + 1 && Object.getOwnPropertySymbols(value).length === 0;
}

/**
 * Returns the first key that an array should not have, or the first index that it lacks; undefined if the array itself
 * is at fault.
 */
export function strayKey(value: readonly unknown[]): { readonly key: PropertyKey; readonly hole: boolean } | undefined {
  if (types.isProxy(value)) return undefined;
  for (let index = 0; index < value.length; index++) {
    if (!Object.hasOwn(value, index)) return { key: index, hole: true };
    if (!Object.prototype.propertyIsEnumerable.call(value, index)) return { key: index, hole: false };
  }
  const key = Reflect.ownKeys(value).find((name, index) => index >= value.length && name !== "length");
  return key === undefined ? undefined : { key, hole: false };
}
