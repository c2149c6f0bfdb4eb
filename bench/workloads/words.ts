const syllables = "ra le mo ti su ne ka do vi pe lo sha gre tan mir bel con der fus zin".split(" ");

/** The different words of a page or two of prose, the first ones the more frequent. */
const list: readonly string[] = Array.from({ length: 1_500 }, (_, index) => {
  let rest = index;
  let word = "";
  do {
    word += syllables[rest % syllables.length];
    rest = Math.floor(rest / syllables.length);
  } while (rest > 0);
  return word;
});

/** Deterministic words, so that every run writes the same. They compress about as prose does. */
export function words(seed: number): (length: number) => string {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) | 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (length) => {
    let text = "";
    while (text.length < length) text += `${list[Math.floor(random() ** 2 * list.length)]} `;
    return text.slice(0, length);
  };
}
