import type { Value } from "../../../backend.ts";
import type { NamedValue } from "../../../codec/references.ts";
import { ByteCache } from "../byte-cache.ts";
import { LongTexts } from "../long-texts.ts";

/** The large values of a lineage that are known to be stored. */
export interface LineageValues {
  /**
   * The record that counts the collections of the lineage, as it was before any of the values was found: as long as it is
   * unchanged, all of them are there. Undefined: the lineage had no values yet.
   */
  collections: Value | undefined;
  /** By the value itself if it is a string, else by its JSON. */
  readonly strings: LongTexts<NamedValue>;
  readonly others: LongTexts<NamedValue>;
  bytes: number;
}

/** Estimated bytes of an entry beside its text. */
const WEIGHT = 300;

/** Remembers which large values are stored, so that a value that is written again is neither hashed nor stored again. */
export class KnownValues {
  readonly #lineages: ByteCache<number, LineageValues>;
  /** Lineages of which values are remembered, the one used longest ago first. */
  readonly #filled = new Set<LineageValues>();
  readonly #most: number;
  #bytes = 0;
  /** Names whose place another value of the lineage has: such a value stays in its frame. */
  readonly #displaced = new Set<string>();

  constructor(limit: number) {
    this.#lineages = new ByteCache(Math.max(limit / 4, 1 << 20));
    this.#most = limit;
  }

  of(lineage: number): LineageValues | undefined {
    return this.#lineages.get(lineage);
  }

  /** Begins to remember values of a lineage, whose count of collections was just read. */
  begin(lineage: number, collections: Value | undefined): LineageValues {
    this.forget(lineage);
    const values: LineageValues = { collections, strings: new LongTexts(), others: new LongTexts(), bytes: 0 };
    this.#lineages.set(lineage, values, WEIGHT);
    return values;
  }

  /** Remembers a value that was found, or inserted, since `values` were begun. `text`: itself, or its JSON. */
  add(values: LineageValues, text: string, isString: boolean, { name, length }: NamedValue): void {
    const texts = isString ? values.strings : values.others;
    if (texts.get(text)) return;
    const bytes = 2 * text.length + WEIGHT;
    texts.add(text, { name, length });
    values.bytes += bytes;
    this.#bytes += bytes;
    this.#filled.delete(values);
    this.#filled.add(values);
    for (const other of this.#filled) {
      if (this.#bytes <= this.#most) break;
      this.#empty(other);
    }
  }

  /** Notes that another value has the place of this one. */
  displace(lineage: number, name: string): void {
    this.#displaced.add(`${lineage}:${name}`);
  }

  isDisplaced(lineage: number, name: string): boolean {
    return this.#displaced.size > 0 && this.#displaced.has(`${lineage}:${name}`);
  }

  forget(lineage: number): void {
    const values = this.#lineages.get(lineage);
    if (values) this.#empty(values);
    this.#lineages.delete(lineage);
  }

  clear(): void {
    for (const values of [...this.#filled]) this.#empty(values);
    this.#lineages.clear();
  }

  #empty(values: LineageValues): void {
    values.strings.clear();
    values.others.clear();
    this.#bytes -= values.bytes;
    values.bytes = 0;
    this.#filled.delete(values);
  }
}
