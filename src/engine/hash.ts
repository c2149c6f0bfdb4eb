import { cryptography } from "./cryptography.ts";

/** Two 32-bit integers from the SHA-1 of some strings. Records found by hash always hold the full identity too. */
export function hashStrings(...parts: readonly string[]): readonly [number, number] {
  let whole = "";
  for (const part of parts) whole += `${part.length}:${part}`;
  const digest = cryptography().hash("sha1", whole, "buffer");
  return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
}
