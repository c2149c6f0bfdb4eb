/**
 * Compares two well-formed strings as their UTF-8 bytes would: by code point. JavaScript's own order is by UTF-16 unit,
 * where the surrogates of a code point beyond U+FFFF sort before U+E000 to U+FFFF.
 */
export function compareBytewise(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Moves the surrogates behind all other units, and leaves every other pair of units in its order. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
