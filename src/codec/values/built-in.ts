import { util } from "../../platform/node-builtins.ts";

const { types } = util;

const { toString: tagOf } = Object.prototype;

/** What V8 knows an object to be, whatever its prototype; those that are told by their tag are not asked for by a test. */
const brands: readonly (readonly [name: string, test: (value: unknown) => boolean])[] = [
  ["Array", Array.isArray],
  ["Map", types.isMap],
  ["Set", types.isSet],
  ["view of bytes", ArrayBuffer.isView],
  ["ArrayBuffer", types.isAnyArrayBuffer],
  ["Promise", types.isPromise],
  ["Date", types.isDate],
  ["RegExp", types.isRegExp],
  ["Error", types.isNativeError],
  ["boxed primitive", types.isBoxedPrimitive],
  ["WeakMap", types.isWeakMap],
  ["WeakSet", types.isWeakSet],
  ["generator", types.isGeneratorObject],
  ["iterator", types.isMapIterator],
  ["iterator", types.isSetIterator],
];

/** Returns what kind of built-in object a value is; undefined for one that is no more than its properties. */
export function builtInName(value: object): string | undefined {
  return brands.find(([, test]) => test(value))?.[0] ?? (isCloned(value) ? undefined : "object");
}

/**
 * Whether an object without a prototype is no more than its properties. `structuredClone` knows all built-in objects, those
 * without a test of their own included: it refuses them. It clones properties as well, so it is asked only where there are none.
 */
function isCloned(value: object): boolean {
  if (Reflect.ownKeys(value).length > 0) return true;
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether an object with the prototype of plain objects is a built-in one all the same. Cheap enough for every object that
 * has no properties, or those of a list: others hold something that would not be lost without a word.
 */
export function isDisguised(value: object, names: readonly string[]): boolean {
  if (names.length > 0) return names[0] === "0" && ArrayBuffer.isView(value);
  if (tagOf.call(value) !== "[object Object]" || ArrayBuffer.isView(value)) return true;
  return types.isMap(value) || types.isSet(value) || types.isAnyArrayBuffer(value) || types.isPromise(value);
}
