import { isPlainObject } from "../../platform/plain-objects.ts";

/** Tells whether two values of a state are equal. Compares contents, and stops at the first difference. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) if (!isSame(left[index], right[index])) return false;
    return true;
  }
  if (isPlainObject(left)) {
    if (!isPlainObject(right)) return false;
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    return keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
  }
  return isSameInstance(left, right);
}

function isSameInstance(left: object, right: object): boolean {
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (left instanceof Map) return isSame([...left], [...(right as Map<unknown, unknown>)]);
  if (left instanceof Set) return isSame([...left], [...(right as Set<unknown>)]);
  if (left instanceof Date) return Object.is(left.getTime(), (right as Date).getTime());
  if (left instanceof RegExp || left instanceof URL || left instanceof URLSearchParams)
    return String(left) === String(right);
  if (left instanceof Error) return isSame(partsOfError(left), partsOfError(right as Error));
  if (left instanceof ArrayBuffer) return isSame(new Uint8Array(left), new Uint8Array(right as ArrayBuffer));
  if (ArrayBuffer.isView(left)) {
    const [one, other] = [bytes(left), bytes(right as ArrayBufferView)];
    return one.length === other.length && one.every((byte, index) => byte === other[index]);
  }
  return isSame({ ...left }, { ...right });
}

function bytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function partsOfError(error: Error): unknown {
  return { ...error, name: error.name, message: error.message, stack: error.stack, cause: error.cause };
}
