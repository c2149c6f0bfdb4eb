const sourceText = Function.prototype.toString;

/**
 * Tells whether a prototype is the built-in prototype of this name, of this realm or another (a `vm` context, a test
 * runner that isolates its files). A subclass fails, whatever its name: the source text of a built-in constructor
 * cannot be imitated.
 */
export function isNativePrototype(prototype: object | null, name: string): boolean {
  if (prototype === null) return false;
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return (
    typeof constructor === "function" &&
    constructor.prototype === prototype &&
    // Engines break this text into lines in different ways.
    sourceText.call(constructor).replaceAll(/\s+/g, " ") === `function ${name}() { [native code] }`
  );
}

/** Tells whether an object's prototype is the built-in prototype of this constructor, of any realm. */
export function isExactly(value: object, constructor: { readonly prototype: object; readonly name: string }): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === constructor.prototype || isNativePrototype(prototype, constructor.name);
}
