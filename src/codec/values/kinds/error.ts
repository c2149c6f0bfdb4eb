import { util } from "../../../platform/node-builtins.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { Decoding, Kind } from "./kind.ts";
import { isExactly } from "./native.ts";

const { types } = util;

const builtIn = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
const later = ["AggregateError", "SuppressedError"];

type ErrorClass = (new (...unused: never[]) => Error) & { readonly prototype: Error; readonly name: string };

/** The error classes that this version of Node has. */
const classes = new Map<string, ErrorClass>();
for (const name of [...builtIn, ...later]) {
  const found: unknown = Reflect.get(globalThis, name);
  if (typeof found === "function") classes.set(name, found as ErrorClass);
}

/**
 * Properties that the language puts on an error without making them enumerable. Each is present only if the error has
 * it.
 */
const hidden = ["name", "message", "stack", "cause", "errors", "error", "suppressed"] as const;
const hiddenNames: ReadonlySet<unknown> = new Set(hidden);

let addedKeys: ReadonlySet<PropertyKey> | undefined;

/**
 * Tells whether this runtime itself puts a hidden property on every error. JavaScriptCore (Bun, Safari) adds the
 * position where the error was made; the stack has it too.
 */
function isAdded(key: PropertyKey): boolean {
  addedKeys ??= new Set(Reflect.ownKeys(new Error("")).filter((own) => !hiddenNames.has(own)));
  return addedKeys.has(key);
}

/**
 * `{"$":"error","class":"TypeError","stack":"…","message":"…","cause":…,"fields":{…}}`. Enumerable properties are in
 * `fields`, whatever their names.
 */
export const error: Kind<Error> = {
  tag: "error",
  test: (value): value is Error => types.isNativeError(value) && classOf(value) !== undefined,
  encode(value, previous, depth, encoding) {
    const node: JsonObject = { $: "error", class: classOf(value)! };
    const fields = {};
    for (const key of Reflect.ownKeys(value)) {
      const property = Object.getOwnPropertyDescriptor(value, key)!;
      if (!property.enumerable && isAdded(key)) continue;
      // Newer versions of V8 make the stack an accessor of the error's own.
      const known = typeof key === "string" && (property.enumerable || hiddenNames.has(key));
      const readable = "value" in property || (key === "stack" && !property.enumerable);
      if (!known || !readable) encoding.refuseProperty(value, key, depth);
      if (property.enumerable) Object.defineProperty(fields, key, property);
    }
    // In a fixed order: equal errors must give equal nodes, whatever order their properties were set in.
    for (const key of hidden) {
      if (!Object.hasOwn(value, key) || Object.hasOwn(fields, key)) continue;
      node[key] = encoding.child(Reflect.get(value, key), previous?.[key], depth, key);
    }
    if (Object.keys(fields).length > 0) node.fields = encoding.fields(fields, previous?.fields, depth);
    return node;
  },
  decode(node, depth, decoding) {
    const parts = decoding.parts(node, ["class"], [...hidden, "fields"]);
    const value = bare(node, parts.class, decoding);
    for (const key of hidden) {
      const part = parts[key];
      if (part === undefined) continue;
      const property = { value: decoding.child(part, depth + 1), writable: true, configurable: true };
      Object.defineProperty(value, key, property);
    }
    if (parts.fields === undefined) return value;
    const fields = Object.entries(decoding.fields(parts.fields, depth + 1));
    if (fields.length === 0) return decoding.corruptNode(node, "has a part too many");
    for (const [key, field] of fields) {
      if (Object.hasOwn(value, key)) return decoding.corruptNode(node, "has a field twice");
      Object.defineProperty(value, key, { value: field, writable: true, configurable: true, enumerable: true });
    }
    return value;
  },
};

function classOf(value: Error): string | undefined {
  for (const [name, constructor] of classes) if (isExactly(value, constructor)) return name;
  return undefined;
}

/** Returns an error of the class without any property of its own, not even a stack. */
function bare(node: JsonObject, name: Json, decoding: Decoding): Error {
  if (typeof name !== "string") return decoding.corruptNode(node, "has no class");
  const constructor = classes.get(name);
  if (constructor === undefined) {
    if (!later.includes(name)) return decoding.corruptNode(node, "has an unknown class");
    return decoding.unsupported(
      `A stored error is a ${name}, which this version of Node lacks. Read it with a newer one.`,
    );
  }
  const value: Error = Reflect.construct(constructor, name === "AggregateError" ? [[]] : []);
  for (const key of Reflect.ownKeys(value)) Reflect.deleteProperty(value, key);
  return value;
}
