/** Bytes and UTF-8 where there is no `Buffer`. Replaces `../bytes.ts` in the web build. */

const encoder = new TextEncoder();
/** The most bytes that are turned into characters by one call. */
const CHUNK = 0x2000;

/** Returns how many bytes a text takes in UTF-8. A half of a surrogate pair counts as its replacement: three bytes. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    const next = text.charCodeAt(index + 1);
    // A pair of surrogates is four bytes for two units.
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) index += 1;
  }
  return bytes;
}

/** Compares bytes as unsigned numbers, from the first on. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index++) {
    const difference = (left[index] as number) - (right[index] as number);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function base64(bytes: Uint8Array): string {
  return btoa(latin1(bytes));
}

/** Returns the bytes of base64. Text that is none gives other bytes, whose base64 differs from the text. */
export function bytesOfBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return new Uint8Array(0);
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Returns a string with one character for each byte. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  // A call takes a limited number of arguments.
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return text;
}
