import type { Json } from "../codec/json.ts";
import { createValueCodec } from "../codec/values/value.ts";

export { UnregisteredInstance } from "../codec/values/unregistered.ts";
export type { Json };

/** Instances of classes that are not registered keep their names and data. */
const codec = createValueCodec({}, "keep");

/** A value as JSON, exactly: what JSON has no form for is tagged as docs/types.md says. */
export function toTagged(value: unknown): Json {
  return codec.encode(value, "value").tree;
}

/** The value that tagged JSON stands for; `CORRUPT` if it is none that was ever written. */
export function fromTagged(tree: Json): unknown {
  return codec.decode(tree);
}
