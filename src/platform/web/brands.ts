type Types = typeof import("node:util").types;
type Test = (value: unknown) => boolean;

const { toString: tagOf } = Object.prototype;

/** Returns a test for the tag of a value. A program can set a tag, but has no reason to. */
const tagged =
  (...tags: readonly string[]): Test =>
  (value) =>
    tags.includes(tagOf.call(value).slice(8, -1));

/** Returns a test that a method of a built-in class accepts the value: it throws for any other object. */
function accepted(prototype: object | undefined, name: PropertyKey, ...parameters: readonly unknown[]): Test {
  const property = prototype && Object.getOwnPropertyDescriptor(prototype, name);
  const method = (property?.get ?? property?.value) as ((...unused: unknown[]) => unknown) | undefined;
  return (value) => {
    if (method === undefined || typeof value !== "object" || value === null) return false;
    try {
      return method.apply(value, [...parameters]) !== undefined;
    } catch {
      return false;
    }
  };
}

const anyOf =
  (...tests: readonly Test[]): Test =>
  (value) =>
    tests.some((test) => test(value));

const typedArrayName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const shared = Reflect.get(globalThis, "SharedArrayBuffer") as { readonly prototype: object } | undefined;
const isArrayBuffer = accepted(ArrayBuffer.prototype, "byteLength");
const isSharedArrayBuffer = accepted(shared?.prototype, "byteLength");
const isError = Reflect.get(Error, "isError") as Test | undefined;

const tests = {
  isMap: accepted(Map.prototype, "size"),
  isSet: accepted(Set.prototype, "size"),
  isDate: accepted(Date.prototype, "getTime"),
  isRegExp: accepted(RegExp.prototype, "global"),
  isNativeError: isError ?? tagged("Error"),
  isPromise: tagged("Promise"),
  isBoxedPrimitive: anyOf(
    ...[Number, String, Boolean, Symbol, BigInt].map(({ prototype }) => accepted(prototype, "valueOf")),
  ),
  isWeakMap: accepted(WeakMap.prototype, "has", {}),
  isWeakSet: accepted(WeakSet.prototype, "has", {}),
  isGeneratorObject: tagged("Generator", "AsyncGenerator"),
  isMapIterator: tagged("Map Iterator"),
  isSetIterator: tagged("Set Iterator"),
  // Nothing outside Node tells a Proxy from its target.
  isProxy: () => false,
  isArrayBuffer,
  isSharedArrayBuffer,
  isAnyArrayBuffer: anyOf(isArrayBuffer, isSharedArrayBuffer),
  isDataView: accepted(DataView.prototype, "byteLength"),
  isUint8Array: (value: unknown) => typedArrayName?.get?.call(value) === "Uint8Array",
} satisfies Partial<Record<keyof Types, Test>>;

/** Tests for built-in kinds of objects, whatever their prototype: those of `node:util` that a store needs. */
export const types: Types = tests as unknown as Types;
