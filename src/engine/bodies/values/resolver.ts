import { applyOwned } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { namedBy, type Reference, type Resolve, resolveOwned } from "../../../codec/references.ts";

/** Returns a function that gives the value of a reference, with its changes applied. `valueOf` gives nodes of their own. */
export function resolverOf(valueOf: (name: string) => Json): Resolve {
  const resolve = (reference: Reference): Json => {
    let value = valueOf(namedBy(reference).name);
    const { d: changes } = reference.$;
    if (changes === undefined) return value;
    for (const change of changes) value = applyOwned(value, structuredClone(change));
    // A change may have put other references into the value.
    return resolveOwned(value, resolve);
  };
  return resolve;
}
