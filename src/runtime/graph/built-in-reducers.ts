import { assign, isPlainObject } from "../../platform/plain-objects.ts";

/**
 * Appends to a list or a text.
 *
 * @example
 * graph<State>("chat").reduce({ messages: append })
 */
export function append<Value extends readonly unknown[] | string>(current: Value, update: Value): Value {
  if (typeof current === "string" && typeof update === "string") return `${current}${update}` as Value;
  if (Array.isArray(current) && Array.isArray(update)) return [...current, ...update] as unknown as Value;
  throw new TypeError(`append needs two lists or two texts, not ${kindOf(current)} and ${kindOf(update)}.`);
}

/**
 * Merges the entries of an object, Map or Set into the entries before.
 *
 * @example
 * graph<State>("judge").reduce({ scores: merge })
 */
export function merge<Value extends object>(current: Value, update: Value): Value {
  if (current instanceof Map && update instanceof Map) return new Map([...current, ...update]) as unknown as Value;
  if (current instanceof Set && update instanceof Set) return new Set([...current, ...update]) as unknown as Value;
  if (!isPlainObject(current) || !isPlainObject(update)) {
    throw new TypeError(`merge needs two objects, Maps or Sets, not ${kindOf(current)} and ${kindOf(update)}.`);
  }
  const result: Record<string, unknown> = {};
  for (const source of [current, update]) for (const [key, value] of Object.entries(source)) assign(result, key, value);
  return result as Value;
}

/** Returns what a value is, for messages. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? (value.constructor?.name ?? "an object") : `a ${typeof value}`;
}
