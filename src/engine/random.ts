import { cryptography } from "./cryptography.ts";

/** A number for a new tape. That it is new is the commit's to check. */
export function randomTape(): number {
  return cryptography().randomInt(1, 2 ** 31);
}

/** A name for this store among all that ever write to the same place. */
export function randomWriter(): string {
  return cryptography().randomBytes(6).toString("base64url");
}
