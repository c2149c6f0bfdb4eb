import type { Json } from "../json.ts";
import { corrupt, type Delta, isObject, kindOf, readFields, readList, readText, readWhole } from "./format.ts";

/**
 * The place in a net delta that belongs to a path, as sealed steps refer to it: either a value that the net delta sets
 * there, or the delta it applies there. Sealing and unsealing walk the same sources in the same order, so that a cursor
 * stands at the same position in both.
 */
export class Source {
  /** Where the next run of elements, or of text, is expected. */
  cursor = 0;
  /** The value set here, if one is. */
  readonly value: Json | undefined;
  readonly #delta: Delta | undefined;
  readonly #parent: Source | undefined;
  #fields: Map<string, Source | undefined> | undefined;
  #items: readonly Json[] | undefined;
  #itemSources: Map<number, Source> | undefined;
  #editSources: Map<number, Source> | undefined;
  #text: string | undefined;
  #taken = false;
  #takenBelow = false;

  private constructor(value: Json | undefined, delta: Delta | undefined, parent: Source | undefined) {
    this.value = value;
    this.#delta = delta;
    this.#parent = parent;
  }

  static of(net: Delta): Source {
    return Source.#ofDelta(net, undefined);
  }

  static #ofDelta(delta: Delta, parent: Source | undefined): Source {
    // Depth is checked by whoever walks a step beside its source: neither goes deeper than the other.
    return kindOf(delta, 0) === "replace"
      ? new Source(delta.r, undefined, parent)
      : new Source(undefined, delta, parent);
  }

  field(key: string): Source | undefined {
    // Most sources are elements, which are never asked for a field.
    this.#fields ??= new Map();
    let source = this.#fields.get(key);
    if (source === undefined && !this.#fields.has(key)) {
      source = this.#field(key);
      this.#fields.set(key, source);
    }
    return source;
  }

  #field(key: string): Source | undefined {
    if (this.#delta === undefined) {
      const { value } = this;
      return isObject(value) && Object.hasOwn(value, key) ? new Source(value[key], undefined, this) : undefined;
    }
    const { s, d } = this.#delta;
    if (s !== undefined && Object.hasOwn(readFields(s, "s"), key)) return new Source(s[key], undefined, this);
    if (d !== undefined && Object.hasOwn(readFields(d, "d"), key)) return Source.#ofDelta(d[key] as Delta, this);
    return undefined;
  }

  /** The source of an element, if elements before it have not come or gone. A guess: what it holds must be compared. */
  element(index: number): Source | undefined {
    if (this.#delta === undefined) return this.#item(index);
    const { l, p } = this.#delta;
    if (l === undefined) return undefined;
    const length = readWhole(l, 0, Number.MAX_SAFE_INTEGER, "l");
    if (index < length) {
      this.#editSources ??= this.#edits();
      return this.#editSources.get(index);
    }
    return p === undefined ? undefined : this.#item(this.items.length - p.length + index - length);
  }

  #edits(): Map<number, Source> {
    const sources = new Map<number, Source>();
    for (const entry of readList(this.#delta?.e ?? [], "e")) {
      if (!Array.isArray(entry)) throw corrupt('"e" must be a list of pairs');
      sources.set(entry[0], Source.#ofDelta(entry[1], this));
    }
    return sources;
  }

  /** All elements that stand here: those of the array, or all that the delta puts in, the pushed ones last. */
  get items(): readonly Json[] {
    this.#items ??= this.#delta === undefined ? arrayOr(this.value) : itemsOf(this.#delta);
    return this.#items;
  }

  #item(index: number): Source | undefined {
    this.#itemSources ??= new Map();
    let source = this.#itemSources.get(index);
    if (source === undefined && index < this.items.length) {
      source = new Source(this.items[index], undefined, this);
      this.#itemSources.set(index, source);
    }
    return source;
  }

  /** The text that stands here: the string, or all that the delta puts in, what it appends last. */
  get text(): string {
    this.#text ??= this.#delta === undefined ? textOr(this.value) : textOf(this.#delta);
    return this.#text;
  }

  /**
   * Whether the value here may be given to a step: no node may be given to two, or what one does to it would show in the
   * other.
   */
  take(): boolean {
    if (this.#taken || this.#takenBelow) return false;
    for (let above = this.#parent; above !== undefined; above = above.#parent) if (above.#taken) return false;
    this.#taken = true;
    for (let above = this.#parent; above !== undefined; above = above.#parent) above.#takenBelow = true;
    return true;
  }

  takeItem(index: number): boolean {
    const item = this.items[index];
    return typeof item !== "object" || item === null || this.#item(index)?.take() === true;
  }
}

function arrayOr(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOr(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function itemsOf(delta: Delta): readonly Json[] {
  const pushed = delta.p === undefined ? [] : readList(delta.p, "p");
  if (delta.x === undefined) return pushed;
  const items: Json[] = [];
  for (const splice of readList(delta.x, "x")) {
    if (!Array.isArray(splice)) throw corrupt('"x" must be a list of splices');
    for (let index = 2; index < splice.length; index++) items.push(splice[index] as Json);
  }
  for (const item of pushed) items.push(item);
  return items;
}

function textOf(delta: Delta): string {
  let text = "";
  for (const splice of readList(delta.t ?? [], "t")) {
    if (!Array.isArray(splice)) throw corrupt('"t" must be a list of splices');
    text += readText(splice[2], "t");
  }
  return delta.a === undefined ? text : text + readText(delta.a, "a");
}
