import { util } from "../../platform/node-builtins.ts";
import { isDisguised } from "./built-in.ts";

const { inspect, types } = util;

// Unlike a descriptor, these make no object: a new node is checked at a fraction of the cost.
const { __lookupGetter__: lookupGetter, __lookupSetter__: lookupSetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown;
  readonly __lookupSetter__: (this: object, key: PropertyKey) => unknown;
};

/** Up to this many elements it is faster to list all properties of an array, which makes a string of every index. */
const searchedElements = 64;

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
  if (!ordinary || Object.getOwnPropertySymbols(value).length > 0) return undefined;
  return isDisguised(value, names) ? undefined : names;
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
  return hasOnlyIndices(value) && isFull(value);
}

/**
 * Whether an array has no own properties but its elements and its length. Of all that Node offers, only `inspect` lists the
 * properties of an array without making a string of every index. Without its elements an array is shown by its length alone,
 * which an array of holes tells how: where this one is shown otherwise, it has more.
 */
function hasOnlyIndices(value: readonly unknown[]): boolean {
  const { length } = value;
  const prototype: unknown = Object.getPrototypeOf(value);
  shownBare ??= inspect(new Array(SOME_LENGTH), withoutElements).split(String(SOME_LENGTH));
  const shown = inspect(value, withoutElements);
  if (prototype === Array.prototype) return shown === shownBare.join(String(length));
  // One of another realm is shown with the name of its class.
  return shown === inspect(Object.setPrototypeOf(new Array(length), prototype as object), withoutElements);
}

const SOME_LENGTH = 12_345;
let shownBare: readonly string[] | undefined;

const withoutElements = {
  ...{ showHidden: true, customInspect: false, getters: false, colors: false, sorted: false, showProxy: false },
  // A program may have changed what is shown unless told.
  ...{ compact: 3, numericSeparator: false },
  ...{ maxArrayLength: 0, maxStringLength: 0, depth: 0, breakLength: Number.POSITIVE_INFINITY },
};

/** Whether there are as many enumerable elements as the array is long. Counting values takes a third of counting keys. */
function isFull(value: readonly unknown[]): boolean {
  try {
    return Object.values(value).length === value.length;
  } catch {
    // A getter threw. Whoever looks at the elements names it.
    return Object.keys(value).length === value.length;
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
