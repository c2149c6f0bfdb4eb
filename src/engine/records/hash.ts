import { cryptography } from "../../platform/node-builtins.ts";

/**
 * Returns two 32-bit integers from the SHA-1 of some strings. Hashes may collide, so a record found by hash also holds
 * the full identity.
 */
export function hashStrings(...parts: readonly string[]): readonly [number, number] {
  let whole = "";
  for (const part of parts) whole += `${part.length}:${part}`;
  // A binary string: making a buffer costs as much again as the hash.
  const digest = cryptography().hash("sha1", whole, "binary");
  return [integerAt(digest, 0), integerAt(digest, 4)];
}

function integerAt(bytes: string, index: number): number {
  let integer = 0;
  for (let place = index; place < index + 4; place++) integer = (integer << 8) | bytes.charCodeAt(place);
  return integer >>> 0;
}
