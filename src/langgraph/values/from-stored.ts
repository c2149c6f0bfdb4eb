import { types } from "node:util";
import { ThreadmarkError } from "../../errors.ts";
import { assign } from "../../platform/plain-objects.ts";
import { classNamed } from "./classes.ts";
import { instanceOf, isStoredInstance, type StoredInstance } from "./instances.ts";

/** Converts back what `toStored` made. Changes the value in place: it must belong to the caller. */
export function fromStored(value: unknown): unknown {
  return live(value, false);
}

/**
 * Converts metadata back, like {@link fromStored}. Earlier versions did not escape the metadata of configs: an object with a
 * key "lc" that `toStored` would not have made is returned as it is.
 */
export function fromStoredMetadata(value: unknown): unknown {
  return live(value, true);
}

function live(value: unknown, lenient: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const part: unknown = value[index];
      if (typeof part === "object" && part !== null) value[index] = live(part, lenient);
    }
    return value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return revive(value as Record<string, unknown>, lenient);
  if (types.isMap(value)) {
    const entries = [...value];
    value.clear();
    for (const [key, part] of entries) value.set(live(key, lenient), live(part, lenient));
  } else if (types.isSet(value)) {
    const members = [...value];
    value.clear();
    for (const part of members) value.add(live(part, lenient));
  }
  return value;
}

function revive(value: Record<string, unknown>, lenient: boolean): unknown {
  const { lc } = value;
  if (!Object.hasOwn(value, "lc")) return reviveParts(value, lenient);
  if (lc === "object" && isEscape(value)) return reviveParts(value.value, lenient);
  const known = typeof lc === "string" ? classNamed(lc) : undefined;
  if (known !== undefined && !(lenient && !isStoredInstance(value, known))) {
    return instanceOf(value as StoredInstance, known, lenient ? fromStoredMetadata : fromStored);
  }
  if (lenient) return reviveParts(value, lenient);
  // Versions of LangGraph without the class use this plain form.
  if (lc === "DeltaSnapshot") return { lg_name: "DeltaSnapshot", value: fromStored(value["value"]) };
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `The state holds ${JSON.stringify(lc)}, a class this version of threadmark/langgraph does not bring back. Use the version that stored it, or a newer one.`,
  );
}

/** Tells whether a node is an escaped object. Invariant: only objects with a key "lc" are escaped, and an escape has two keys. */
function isEscape(node: Record<string, unknown>): node is { lc: "object"; value: Record<string, unknown> } {
  const { value } = node;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "lc")) return false;
  return Object.hasOwn(node, "value") && Object.keys(node).length === 2;
}

function reviveParts(value: Record<string, unknown>, lenient: boolean): Record<string, unknown> {
  for (const key of Object.keys(value)) {
    const part = value[key];
    if (typeof part !== "object" || part === null) continue;
    const alive = live(part, lenient);
    if (alive !== part) assign(value, key, alive);
  }
  return value;
}
