import { util } from "../../../platform/node-builtins.ts";
import type { Kind } from "./kind.ts";
import { isExactly } from "./native.ts";

const { types } = util;

/** `{"$":"regexp","v":"a+","flags":"gi","lastIndex":0}`. */
export const regexp: Kind<RegExp> = {
  tag: "regexp",
  test: (value): value is RegExp => types.isRegExp(value) && isExactly(value, RegExp),
  encode(value, previous, depth, encoding) {
    encoding.only(value, depth, "lastIndex");
    const lastIndex = encoding.child(value.lastIndex, previous?.lastIndex, depth, "lastIndex");
    return { $: "regexp", v: value.source, flags: value.flags, lastIndex };
  },
  decode(node, depth, decoding) {
    const { v, flags, lastIndex } = decoding.parts(node, ["v", "flags", "lastIndex"]);
    if (typeof v !== "string" || typeof flags !== "string")
      return decoding.corruptNode(node, "has no source or no flags");
    const value = compile(v, flags, (cause) => decoding.corruptNode(node, "does not compile", cause));
    if (value.source !== v || value.flags !== flags) return decoding.corruptNode(node, "is not in its normal form");
    // The type is number, but the language allows any value.
    value.lastIndex = decoding.child(lastIndex, depth + 1) as number;
    return value;
  },
};

function compile(source: string, flags: string, failed: (cause: unknown) => never): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    return failed(cause);
  }
}
