/** Returns the SHA-1 of some bytes as a string with one character for each byte. Browsers hash asynchronously only. */
export function sha1(bytes: Uint8Array): string {
  const blocks = padded(bytes);
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Uint32Array(80);
  for (let start = 0; start < blocks.byteLength; start += 64) {
    for (let index = 0; index < 16; index++) words[index] = blocks.getUint32(start + index * 4);
    for (let index = 16; index < 80; index++) {
      const mixed = word(words, index - 3) ^ word(words, index - 8) ^ word(words, index - 14) ^ word(words, index - 16);
      words[index] = rotated(mixed, 1);
    }
    addBlock(state, words);
  }
  let digest = "";
  for (const part of state) {
    digest += String.fromCharCode(part >>> 24, (part >>> 16) & 255, (part >>> 8) & 255, part & 255);
  }
  return digest;
}

/** Returns the bytes with a one bit, zeros and their length in bits behind them, in whole blocks of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const all = new Uint8Array(length);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, bytes.length << 3);
  return view;
}

function addBlock(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let index = 0; index < 80; index++) {
    const [mixed, constant] = roundOf(index, b, c, d);
    const next = (rotated(a, 5) + mixed + e + constant + word(words, index)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  for (const [index, value] of [a, b, c, d, e].entries()) state[index] = (word(state, index) + value) | 0;
}

/** Returns the mixed bits of a round, and its constant. */
function roundOf(index: number, b: number, c: number, d: number): readonly [number, number] {
  if (index < 20) return [(b & c) | (~b & d), 0x5a827999];
  if (index < 40) return [b ^ c ^ d, 0x6ed9eba1];
  if (index < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
  return [b ^ c ^ d, 0xca62c1d6];
}

function word(words: Uint32Array, index: number): number {
  return words[index] as number;
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
