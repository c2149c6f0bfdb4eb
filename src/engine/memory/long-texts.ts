/** Characters that are taken from the start, the middle and the end of a text. */
const SAMPLE = 24;

/**
 * A map by long texts. V8 hashes a string of more than 16,383 characters by its length alone, so that in a `Map` every look
 * at a value would compare it with all others of its length. Here texts are told apart by samples, and only texts with the
 * same samples are compared.
 */
export class LongTexts<Value> {
  /** Made with the first text: most maps of this kind stay empty. */
  #bySample: Map<string, [text: string, value: Value][]> | undefined;

  get(text: string): Value | undefined {
    return this.#bySample?.get(sampleOf(text))?.find(([other]) => other === text)?.[1];
  }

  /** Adds a text that is not there yet. */
  add(text: string, value: Value): void {
    const sample = sampleOf(text);
    this.#bySample ??= new Map();
    const alike = this.#bySample.get(sample);
    if (alike === undefined) this.#bySample.set(sample, [[text, value]]);
    else alike.push([text, value]);
  }

  delete(text: string): void {
    const sample = sampleOf(text);
    const others = this.#bySample?.get(sample)?.filter(([other]) => other !== text) ?? [];
    if (others.length === 0) this.#bySample?.delete(sample);
    else this.#bySample?.set(sample, others);
  }

  clear(): void {
    this.#bySample = undefined;
  }
}

function sampleOf(text: string): string {
  const middle = text.length >> 1;
  return `${text.length}:${text.slice(0, SAMPLE)}${text.slice(middle, middle + SAMPLE)}${text.slice(-SAMPLE)}`;
}
