import type { Value } from "../../backend.ts";
import { compareBytes } from "../../platform/bytes.ts";

/** Returns whether two values are the same text or the same bytes; text never equals bytes. */
export function isSameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b) === 0;
  return a === b;
}
