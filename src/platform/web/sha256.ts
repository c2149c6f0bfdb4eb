/** SHA-256 for the web build: `crypto.subtle` has it only as a promise, and values are named while a put is planned. */

/** The first 32 bits of the fractional parts of the square and cube roots of the first primes. */
const [initial, constants] = roots();

function roots(): readonly [Uint32Array, Uint32Array] {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return [
    Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ];
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Returns the digest of some bytes as a string with one character for each of its 32 bytes. */
export function sha256(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = initial.slice();
  const words = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) addBlock(state, words, view, start);
  let text = "";
  for (const word of state) {
    for (let shift = 24; shift >= 0; shift -= 8) text += String.fromCharCode((word >>> shift) & 255);
  }
  return text;
}

function addBlock(state: Uint32Array, words: Uint32Array, view: DataView, start: number): void {
  for (let index = 0; index < 16; index++) words[index] = view.getUint32(start + 4 * index);
  for (let index = 16; index < 64; index++) {
    const [early, late] = [words[index - 15] as number, words[index - 2] as number];
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[index] = (words[index - 16] as number) + first + (words[index - 7] as number) + second;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const first = (h + mixed + chosen + (constants[index] as number) + (words[index] as number)) | 0;
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + word;
}
