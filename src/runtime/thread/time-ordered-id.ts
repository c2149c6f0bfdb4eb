import { randomBytes } from "node:crypto";

/** Returns an id that sorts by time (a UUID of version 7), for checkpoints whose writes are saved before they are. */
export function timeOrderedId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  // Version 7. The rest of this field is never zero, because ids with a zero there are those that the store gives.
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f) | 0x01;
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
