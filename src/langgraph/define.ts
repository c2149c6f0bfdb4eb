/** Sets a key, of which `__proto__` is an ordinary one. */
export function define<T>(target: { [key: string]: T }, key: string, value: T): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
