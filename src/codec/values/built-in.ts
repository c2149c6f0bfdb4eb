import { util } from "../../platform/node-builtins.ts";

const { types } = util;

const { toString: tagOf } = Object.prototype;

/**
 * Tests for the kinds that V8 gives an object, whatever its prototype. Kinds that Object.prototype.toString names need
 * no test here.
 */
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

/** Returns the kind of a built-in object; undefined for an object that is no more than its properties. */
export function builtInName(value: object): string | undefined {
  return brands.find(([, test]) => test(value))?.[0] ?? (isCloned(value) ? undefined : "object");
}

/**
 * Tells whether an object without a prototype is no more than its properties. `structuredClone` refuses built-in
 * objects, including those without a test above. It also clones properties, so only objects without any are tried.
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
 * Tells whether an object with the prototype of plain objects is nevertheless a built-in object. Checks only objects
 * without properties or with those of a list, which is cheap: any other holds something that would not be lost
 * silently.
 */
export function isDisguised(value: object, names: readonly string[]): boolean {
  if (names.length > 0) return names[0] === "0" && ArrayBuffer.isView(value);
  if (tagOf.call(value) !== "[object Object]" || ArrayBuffer.isView(value)) return true;
  return types.isMap(value) || types.isSet(value) || types.isAnyArrayBuffer(value) || types.isPromise(value);
}
