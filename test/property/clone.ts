/** A deep copy of a value of any kind that a state can hold, sharing no object with it. */
export function clone<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Date) return new Date(value);
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof URL) return new URL(value);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [copy(key), copy(one)]));
  if (value instanceof Set) return new Set([...value].map(copy));
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof DataView) {
    return new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  }
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (value instanceof Error) return copyError(value);
  return copyFields(value, Object.create(Object.getPrototypeOf(value)) as object);
}

function copyError(error: Error): Error {
  const options = Object.hasOwn(error, "cause") ? { cause: copy(error.cause) } : undefined;
  const Constructor = error.constructor as ErrorConstructor;
  const fresh = error.message === "" ? new Constructor(undefined, options) : new Constructor(error.message, options);
  return copyFields(error, fresh) as Error;
}

function copyFields(from: object, into: object): object {
  for (const key of Object.keys(from)) {
    // defineProperty, because `__proto__` is an ordinary key here.
    const field = { value: copy(Reflect.get(from, key)), writable: true, enumerable: true, configurable: true };
    Object.defineProperty(into, key, field);
  }
  return into;
}
