import { ThreadmarkError } from "../../errors.ts";
import { NodeBuffer } from "../../platform/node-buffer.ts";
import { assign, isPlainObject } from "../../platform/plain-objects.ts";

/**
 * Returns a frozen copy of a value. Invariant: the state that the tasks of a step share is copied from the results of
 * nodes, so that no node holds a reference into it, and frozen, so that a node that changes it in place fails instead of
 * changing the state of its siblings. Instances of other classes cannot be copied, and are kept as they are.
 */
export function capture<T>(value: T): T {
  return copy(value, true, []) as T;
}

/** Returns a copy that its receiver may change. */
export function release<T>(value: T): T {
  return copy(value, false, []) as T;
}

function copy(value: unknown, freeze: boolean, above: unknown[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) {
    throw new ThreadmarkError("SERIALIZE", "A value that contains itself cannot be stored. Break the cycle.");
  }
  const builtIn = copyBuiltIn(value);
  if (builtIn !== undefined) return builtIn;
  above.push(value);
  const result = copyContainer(value, (part) => copy(part, freeze, above));
  above.pop();
  return freeze ? Object.freeze(result) : result;
}

function copyContainer(value: object, inner: (part: unknown) => unknown): object {
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [inner(key), inner(part)]));
  if (value instanceof Set) return new Set([...value].map(inner));
  const result = Object.create(Object.getPrototypeOf(value)) as Record<string, unknown>;
  for (const [key, part] of Object.entries(value)) assign(result, key, inner(part));
  return result;
}

/**
 * Returns a value for one receiver alone: parts that cannot be frozen (Map, Set, Date, buffers) are copied, with the path
 * to them; everything else is shared. A frozen value without such parts is returned as it is.
 */
export function ownCopy<T>(value: T): T {
  return (changeable(value) ? ownParts(value as object) : value) as T;
}

function ownParts(value: object): unknown {
  const builtIn = copyBuiltIn(value);
  if (builtIn !== undefined) return builtIn;
  const result = copyContainer(value, ownCopy);
  return value instanceof Map || value instanceof Set ? result : Object.freeze(result);
}

/** Remembers of frozen lists and objects whether they hold a part that can be changed: that never changes. */
const known = new WeakMap<object, boolean>();

function changeable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value) && !isPlainObject(value)) return copyBuiltIn(value) !== value;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (!Object.isFrozen(value)) return true;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const result = parts.some(changeable);
  known.set(value, result);
  return result;
}

/** Copies anything but an array, Map, Set or plain object; returns undefined for these. */
function copyBuiltIn(value: object): unknown {
  if (NodeBuffer?.isBuffer(value)) return NodeBuffer.from(value);
  if (value instanceof Date || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return structuredClone(value);
  if (value instanceof URL) return new URL(value.href);
  if (value instanceof RegExp) return structuredClone(value);
  return isContainer(value) ? undefined : value;
}

function isContainer(value: object): boolean {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) return true;
  return isPlainObject(value);
}

/** Freezes a value of the runtime's own in place: a state just read, or the result of a reducer on captured parts. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) for (const part of value) freeze(part);
  else if (isPlainObject(value)) for (const part of Object.values(value)) freeze(part);
  else return value;
  return Object.freeze(value);
}
