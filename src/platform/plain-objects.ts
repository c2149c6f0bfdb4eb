/** Tells whether a value is an object without a class, whose own keys are its content. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Sets an own property, whatever its name: an assignment to `__proto__` would change the prototype instead. */
export function assign<Value>(target: { [key: string]: Value }, key: string, value: Value): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
