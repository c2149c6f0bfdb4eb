import { builtInName } from "../built-in.ts";
import { refusalOf } from "../refusal.ts";
import type { Kind } from "./kind.ts";

/** `{"$":"null-prototype","v":{…}}`: an object without a prototype. The keys in `v` are literal. */
export const nullPrototype: Kind = {
  tag: "null-prototype",
  test: (value): value is object => Object.getPrototypeOf(value) === null,
  encode(value, previous, depth, encoding) {
    // Any object can lose its prototype; a Map or Date without it would come back without its contents.
    if (builtInName(value) !== undefined) {
      const { what, next } = refusalOf(value);
      encoding.refuse(depth, what, next);
    }
    return { $: "null-prototype", v: encoding.fields(value, previous?.v, depth) };
  },
  decode(node, depth, decoding) {
    const fields = decoding.fields(decoding.parts(node, ["v"]).v, depth + 1);
    const value: Record<string, unknown> = Object.create(null);
    // A null prototype has no setters, so even "__proto__" is set like any other key.
    for (const key of Object.keys(fields)) value[key] = fields[key];
    return value;
  },
};
