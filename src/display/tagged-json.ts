import type { Json } from "../codec/json.ts";
import { createValueCodec } from "../codec/values/value.ts";

export { UnregisteredInstance } from "../codec/values/unregistered.ts";
export type { Json };

/** Instances of classes that are not registered keep their names and data. */
const codec = createValueCodec({}, "keep");

/** Returns a value as JSON, exactly: a value that JSON has no form for is tagged as docs/reference/types.md describes. */
export function toTagged(value: unknown): Json {
  return codec.encode(value, "value").tree;
}

/** Returns the value of tagged JSON. Throws `CORRUPT` for a tree that cannot have been written. */
export function fromTagged(tree: Json): unknown {
  return codec.decode(tree);
}
