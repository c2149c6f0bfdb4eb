import { util } from "../../platform/node-builtins.ts";
import { builtInName } from "./built-in.ts";

const { types } = util;

/** The reason why a value cannot be stored, and the remedy: "<what> cannot be stored. <next>". */
export interface Refusal {
  readonly what: string;
  readonly next: string;
}

const leaveOut = "Leave it out of the state, or store the data it needs.";

/** Returns the reason to refuse a value of no known kind. Never runs the value's own code. */
export function refusalOf(value: unknown): Refusal {
  if (typeof value === "symbol") return { what: "a symbol", next: "Store a string instead." };
  if (types.isProxy(value)) return { what: "a Proxy", next: "Store a plain copy of what it stands for." };
  if (typeof value === "function") return { what: "a function", next: leaveOut };
  if (typeof value !== "object" || value === null) return { what: `a ${typeof value}`, next: leaveOut };
  if (types.isPromise(value)) return { what: "a Promise", next: "Await it and store the result." };
  if (types.isBoxedPrimitive(value))
    return { what: "a boxed primitive", next: "Store the primitive, value.valueOf()." };
  if (types.isSharedArrayBuffer(value)) return { what: "a SharedArrayBuffer", next: "Store a copy of its bytes." };
  if (types.isWeakMap(value)) return { what: "a WeakMap", next: "Store a Map of what is to be kept." };
  if (types.isWeakSet(value)) return { what: "a WeakSet", next: "Store a Set of what is to be kept." };
  if (types.isGeneratorObject(value)) return { what: "a generator", next: "Store the list of what it yields." };
  const name = classNameOf(value);
  if (Object.getPrototypeOf(value) === null || name === "Object") {
    const builtIn = builtInName(value);
    if (builtIn !== undefined) {
      return {
        what: `a built-in ${builtIn} without a prototype of its own`,
        next: "Give it back its prototype, or store a plain copy.",
      };
    }
  }
  if (name === undefined) {
    return { what: "an object with a prototype of its own", next: "Store a plain object, { ...value }." };
  }
  const codecs = `{ classes: { ${name}: { test, encode, decode } } }`;
  return {
    what: `an instance of the class ${name}`,
    next: `Register the class, open(url, ${codecs}), or store a plain object.`,
  };
}

/** Returns the reason to refuse a property: its object would come back without it, or with another value. */
export function propertyRefusal(value: object, key: PropertyKey): Refusal {
  if (typeof key === "symbol") {
    return { what: `an object with the symbol key ${String(key)}`, next: "Use a string as the key." };
  }
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property !== undefined && !("value" in property)) {
    return { what: "an accessor", next: "Store the value it gives, { ...value } makes such a copy." };
  }
  if (property?.enumerable === false) {
    return { what: "a property that is not enumerable", next: "Make it an ordinary property, or leave it out." };
  }
  return { what: "a property added to a built-in object", next: "Store it beside the object." };
}

function classNameOf(value: object): string | undefined {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null) return undefined;
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  if (typeof constructor !== "function") return undefined;
  const name: unknown = Object.getOwnPropertyDescriptor(constructor, "name")?.value;
  return typeof name === "string" && name !== "" ? name : undefined;
}
