import type { Attributes, AttributeValue } from "../../model/attributes.ts";
import { attributeLimits } from "../../model/attributes.ts";

/** Returns the declared metadata that can be attributes of a thread; undefined where there is none. */
export function attributesOf(
  names: readonly string[],
  metadata: { readonly [name: string]: unknown },
): Attributes | undefined {
  const found = names.flatMap((name): [string, AttributeValue][] => {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return isAttribute(value) ? [[name, value]] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function isAttribute(value: unknown): value is AttributeValue {
  if (typeof value === "boolean" || Number.isFinite(value)) return true;
  return (
    typeof value === "string" &&
    value.isWellFormed() &&
    !value.includes("\0") &&
    new TextEncoder().encode(value).length <= attributeLimits.textBytes
  );
}
