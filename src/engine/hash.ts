import { cryptography } from "./cryptography.ts";

/** Two 32-bit integers from the SHA-1 of some strings. Records found by hash always hold the full identity too. */
export function hashStrings(...parts: readonly string[]): readonly [number, number] {
  const hash = cryptography().createHash("sha1");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  const digest = hash.digest();
  return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
}
