import { util } from "../../../platform/node-builtins.ts";
import type { Json } from "../../json.ts";
import { entries } from "../path.ts";
import type { Kind } from "./kind.ts";

const { toUSVString } = util;

/** Keys that the runtime itself puts on every url: Deno keeps its parts under symbols. */
let urlKeys: readonly PropertyKey[] | undefined;
let searchParamsKeys: readonly PropertyKey[] | undefined;

function keysOfUrl(): readonly PropertyKey[] {
  urlKeys ??= Reflect.ownKeys(new URL("a:b"));
  return urlKeys;
}

function keysOfSearchParams(): readonly PropertyKey[] {
  searchParamsKeys ??= Reflect.ownKeys(new URLSearchParams());
  return searchParamsKeys;
}

/** `{"$":"url","v":"https://example.org/"}`. */
export const url: Kind<URL> = {
  tag: "url",
  test: (value): value is URL => Object.getPrototypeOf(value) === URL.prototype,
  encode(value, _previous, depth, encoding) {
    encoding.only(value, depth, ...keysOfUrl());
    // Setters can make hrefs that do not parse to themselves: a path that ends in spaces, for example.
    if (!URL.canParse(value.href) || new URL(value.href).href !== value.href) {
      encoding.refuse(depth, "a URL that does not parse to itself", "Store its parts as strings.");
    }
    return { $: "url", v: value.href };
  },
  decode(node, _depth, decoding) {
    const { v } = decoding.parts(node, ["v"]);
    if (typeof v !== "string" || !URL.canParse(v)) return decoding.corruptNode(node, "does not parse");
    const value = new URL(v);
    return value.href === v ? value : decoding.corruptNode(node, "is not in its normal form");
  },
};

/** `{"$":"searchparams","v":[["q","a b"]]}`. */
export const searchParams: Kind<URLSearchParams> = {
  tag: "searchparams",
  test: (value): value is URLSearchParams => Object.getPrototypeOf(value) === URLSearchParams.prototype,
  encode(value, previous, depth, encoding) {
    encoding.only(value, depth, ...keysOfSearchParams());
    return { $: "searchparams", v: encoding.child([...value], previous?.v, depth, entries) };
  },
  decode(node, _depth, decoding) {
    const { v } = decoding.parts(node, ["v"]);
    if (!Array.isArray(v)) return decoding.corruptNode(node, "has no list");
    const value = new URLSearchParams();
    for (const pair of v) {
      if (!Array.isArray(pair) || pair.length !== 2) return decoding.corruptNode(node, "has an entry that is no pair");
      const [name, text] = pair;
      if (!isText(name) || !isText(text)) return decoding.corruptNode(node, "has a pair of no well-formed strings");
      value.append(name, text);
    }
    return value;
  },
};

function isText(part: Json | undefined): part is string {
  return typeof part === "string" && toUSVString(part) === part;
}
