import { isObject, type Json } from "../../json.ts";
import { corruptDelta, type Delta, kindOf, readFields, readList, readText, readWhole } from "../format.ts";

/**
 * The node of a net delta at a path, as sealed steps refer to it: either a value that the net delta sets there, or a
 * delta that it applies there. Invariant: sealing and unsealing visit the same net nodes in the same order, so that a
 * cursor has the same position in both.
 */
export class NetNode {
  /** The position at which the next run of elements, or of text, is expected. */
  cursor = 0;
  /** The value set here, if any. */
  readonly value: Json | undefined;
  readonly #delta: Delta | undefined;
  readonly #parent: NetNode | undefined;
  #fields: Map<string, NetNode | undefined> | undefined;
  #items: readonly Json[] | undefined;
  #itemNodes: Map<number, NetNode> | undefined;
  #editNodes: Map<number, NetNode> | undefined;
  #text: string | undefined;
  #taken = false;
  #takenBelow = false;

  private constructor(value: Json | undefined, delta: Delta | undefined, parent: NetNode | undefined) {
    this.value = value;
    this.#delta = delta;
    this.#parent = parent;
  }

  static of(net: Delta): NetNode {
    return NetNode.#ofDelta(net, undefined);
  }

  static #ofDelta(delta: Delta, parent: NetNode | undefined): NetNode {
    // The caller checks the depth: it walks a step beside its net node, and neither goes deeper than the other.
    return kindOf(delta, 0) === "replace"
      ? new NetNode(delta.r, undefined, parent)
      : new NetNode(undefined, delta, parent);
  }

  field(key: string): NetNode | undefined {
    // Made on demand: most net nodes are elements, whose fields nobody reads.
    this.#fields ??= new Map();
    let node = this.#fields.get(key);
    if (node === undefined && !this.#fields.has(key)) {
      node = this.#field(key);
      this.#fields.set(key, node);
    }
    return node;
  }

  #field(key: string): NetNode | undefined {
    if (this.#delta === undefined) {
      const { value } = this;
      return isObject(value) && Object.hasOwn(value, key) ? new NetNode(value[key], undefined, this) : undefined;
    }
    const { s, d } = this.#delta;
    if (s !== undefined && Object.hasOwn(readFields(s, "s"), key)) return new NetNode(s[key], undefined, this);
    if (d !== undefined && Object.hasOwn(readFields(d, "d"), key)) return NetNode.#ofDelta(d[key] as Delta, this);
    return undefined;
  }

  /**
   * Returns the net node of an element, assuming that no element before it was inserted or removed. A guess: the caller
   * compares its value.
   */
  element(index: number): NetNode | undefined {
    if (this.#delta === undefined) return this.#item(index);
    const { l, p } = this.#delta;
    if (l === undefined) return undefined;
    const length = readWhole(l, 0, Number.MAX_SAFE_INTEGER, "l");
    if (index < length) {
      this.#editNodes ??= this.#edits();
      return this.#editNodes.get(index);
    }
    return p === undefined ? undefined : this.#item(this.items.length - p.length + index - length);
  }

  #edits(): Map<number, NetNode> {
    const nodes = new Map<number, NetNode>();
    for (const entry of readList(this.#delta?.e ?? [], "e")) {
      if (!Array.isArray(entry)) throw corruptDelta('"e" must be a list of pairs');
      nodes.set(entry[0], NetNode.#ofDelta(entry[1], this));
    }
    return nodes;
  }

  /** Returns all elements here: those of the array, or those that the delta inserts, with the pushed ones last. */
  get items(): readonly Json[] {
    this.#items ??= this.#delta === undefined ? arrayOr(this.value) : itemsOf(this.#delta);
    return this.#items;
  }

  #item(index: number): NetNode | undefined {
    this.#itemNodes ??= new Map();
    let node = this.#itemNodes.get(index);
    if (node === undefined && index < this.items.length) {
      node = new NetNode(this.items[index], undefined, this);
      this.#itemNodes.set(index, node);
    }
    return node;
  }

  /** Returns the text here: the string, or all text that the delta inserts, with the appended text last. */
  get text(): string {
    this.#text ??= this.#delta === undefined ? textOr(this.value) : textOf(this.#delta);
    return this.#text;
  }

  /**
   * Tells whether the value here may be given to a step, and marks it given. A node given to two steps would show the
   * changes of each in the other.
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
    if (!Array.isArray(splice)) throw corruptDelta('"x" must be a list of splices');
    for (let index = 2; index < splice.length; index++) items.push(splice[index] as Json);
  }
  for (const item of pushed) items.push(item);
  return items;
}

function textOf(delta: Delta): string {
  let text = "";
  for (const splice of readList(delta.t ?? [], "t")) {
    if (!Array.isArray(splice)) throw corruptDelta('"t" must be a list of splices');
    text += readText(splice[2], "t");
  }
  return delta.a === undefined ? text : text + readText(delta.a, "a");
}
