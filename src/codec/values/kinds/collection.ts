import { util } from "../../../platform/node-builtins.ts";
import { entries, members } from "../path.ts";
import type { Kind } from "./kind.ts";
import { isExactly } from "./native.ts";

const { types } = util;

// Maps and Sets turn −0 into 0 on insertion, so neither ever holds a −0.

/** `{"$":"map","v":[[key, value], …]}`, in insertion order. */
export const map: Kind<Map<unknown, unknown>> = {
  tag: "map",
  test: (value): value is Map<unknown, unknown> => types.isMap(value) && isExactly(value, Map),
  encode(value, previous, depth, encoding) {
    encoding.only(value, depth);
    return { $: "map", v: encoding.child([...value], previous?.v, depth, entries) };
  },
  decode(node, depth, decoding) {
    const { v } = decoding.parts(node, ["v"]);
    if (!Array.isArray(v)) return decoding.corruptNode(node, "has no list of entries");
    const value = new Map<unknown, unknown>();
    for (const pair of v) {
      if (!Array.isArray(pair) || pair.length !== 2) return decoding.corruptNode(node, "has an entry that is no pair");
      const key = decoding.child(pair[0]!, depth + 3);
      if (Object.is(key, -0)) return decoding.corruptNode(node, "has the key -0");
      value.set(key, decoding.child(pair[1]!, depth + 3));
    }
    return value.size === v.length ? value : decoding.corruptNode(node, "has a key twice");
  },
};

/** `{"$":"set","v":[member, …]}`, in insertion order. */
export const set: Kind<Set<unknown>> = {
  tag: "set",
  test: (value): value is Set<unknown> => types.isSet(value) && isExactly(value, Set),
  encode(value, previous, depth, encoding) {
    encoding.only(value, depth);
    return { $: "set", v: encoding.child([...value], previous?.v, depth, members) };
  },
  decode(node, depth, decoding) {
    const { v } = decoding.parts(node, ["v"]);
    if (!Array.isArray(v)) return decoding.corruptNode(node, "has no list of members");
    const value = new Set<unknown>();
    for (const entry of v) {
      const member = decoding.child(entry, depth + 2);
      if (Object.is(member, -0)) return decoding.corruptNode(node, "has the member -0");
      value.add(member);
    }
    return value.size === v.length ? value : decoding.corruptNode(node, "has a member twice");
  },
};
