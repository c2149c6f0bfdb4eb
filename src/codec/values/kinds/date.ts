import { util } from "../../../platform/node-builtins.ts";
import type { Kind } from "./kind.ts";
import { isExactly } from "./native.ts";

const { types } = util;

/** `{"$":"date","v":1700000000000}`; null for an invalid one. */
export const date: Kind<Date> = {
  tag: "date",
  test: (value): value is Date => types.isDate(value) && isExactly(value, Date),
  encode(value, _previous, depth, encoding) {
    encoding.only(value, depth);
    const time = value.getTime();
    return { $: "date", v: Number.isNaN(time) ? null : time };
  },
  same: (value, node) => node.v === value.getTime() && Reflect.ownKeys(value).length === 0,
  decode(node, _depth, decoding) {
    const { v } = decoding.parts(node, ["v"]);
    if (v === null) return new Date(Number.NaN);
    if (typeof v !== "number") return decoding.corruptNode(node, "has no time");
    const value = new Date(v);
    return Object.is(value.getTime(), v) ? value : decoding.corruptNode(node, "has a time out of range");
  },
};
