import { isPlainObject } from "../../platform/plain-objects.ts";

/** Tells whether two values of the kinds that a store keeps are equal in all their parts. Map entries have an order. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (isPlainObject(left)) return sameEntries(left, right as Record<string, unknown>);
  if (Array.isArray(left)) return sameList(left, right as unknown[]);
  if (left instanceof Map) return sameList([...left], [...(right as typeof left)]);
  if (left instanceof Set) return sameList([...left], [...(right as typeof left)]);
  if (left instanceof Date) return Object.is(left.getTime(), (right as Date).getTime());
  if (left instanceof Error)
    return sameList([left.name, left.message], [(right as Error).name, (right as Error).message]);
  if (left instanceof ArrayBuffer) return sameList(bytesOf(left), bytesOf(right as ArrayBuffer));
  if (ArrayBuffer.isView(left)) return sameList(bytesOf(left), bytesOf(right as ArrayBufferView));
  // URL, RegExp, and instances of classes that show their content.
  return String(left) === String(right) && sameEntries({ ...left }, { ...right });
}

function sameEntries(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]));
}

function sameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((part, index) => sameValue(part, right[index]));
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): number[] {
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
  return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
}
