const sourceText = Function.prototype.toString;

/**
 * Whether a prototype is the built-in one of this name, of this realm or of another (a `vm` context, a test runner that
 * isolates its files). A subclass fails, whatever its name: the source of a built-in constructor cannot be imitated.
 */
export function isNativePrototype(prototype: object | null, name: string): boolean {
  if (prototype === null) return false;
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return (
    typeof constructor === "function" &&
    constructor.prototype === prototype &&
    sourceText.call(constructor) === `function ${name}() { [native code] }`
  );
}

/** Whether an object's prototype is the built-in one of this name, of whatever realm. */
export function isExactly(value: object, constructor: { readonly prototype: object; readonly name: string }): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === constructor.prototype || isNativePrototype(prototype, constructor.name);
}
