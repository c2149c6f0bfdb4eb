import { cryptography } from "../../platform/node-builtins.ts";

/** Two 32-bit integers from the SHA-1 of some strings. Records found by hash always hold the full identity too. */
export function hashStrings(...parts: readonly string[]): readonly [number, number] {
  let whole = "";
  for (const part of parts) whole += `${part.length}:${part}`;
  // A string of its bytes: making a buffer of them costs as much again.
  const digest = cryptography().hash("sha1", whole, "binary");
  return [integerAt(digest, 0), integerAt(digest, 4)];
}

function integerAt(bytes: string, index: number): number {
  let integer = 0;
  for (let place = index; place < index + 4; place++) integer = (integer << 8) | bytes.charCodeAt(place);
  return integer >>> 0;
}
