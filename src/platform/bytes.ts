/** Bytes and UTF-8, by Node's `Buffer`. The web build uses `web/bytes.ts` instead, which exports the same functions. */

/** Returns how many bytes a text takes in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Compares bytes as unsigned numbers, from the first on. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}

export function utf8(text: string): Uint8Array {
  return Buffer.from(text);
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Returns the bytes of base64. Text that is none gives other bytes, whose base64 differs from the text. */
export function bytesOfBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}

/** Returns a string with one character for each byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
