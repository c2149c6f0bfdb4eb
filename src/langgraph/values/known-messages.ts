import type { KnownClass, MessageClass } from "./classes.ts";
import type { StoredInstance } from "./instances.ts";
import { isOrdinaryArray, isOrdinaryObject } from "./plain-objects.ts";

export type Node = StoredInstance & Record<string, unknown>;

type Fields = Record<string, unknown>;

/** What messages have in common that are alike in all but what they say. */
interface Shape {
  /** The names of a message's properties. */
  readonly names: readonly string[];
  /** The names in its `lc_kwargs`, and for each the position of the property that holds the same. */
  readonly kwargsNames: readonly string[];
  readonly sources: readonly number[];
  /** The positions of properties that are `{}`, and of those that are `[]`. */
  readonly objects: readonly number[];
  readonly lists: readonly number[];
}

/** A message whose node cannot change, and all of it that the node was made of. */
interface Remembered {
  readonly shape: Shape;
  readonly kwargs: Fields;
  readonly node: Node;
  /** What the message's properties were, then what was in those that are neither text nor empty: see {@link frozenCopy}. */
  readonly values: readonly unknown[];
}

const remembered = new WeakMap<object, Remembered>();
const shapes = new WeakMap<MessageClass["made"], Map<string, Shape>>();

/** Remembers the node of a message of plain data: it is frozen, so that the store knows it again as well. */
export function remember(message: Fields, known: KnownClass, node: Node): Node {
  const parts: unknown[] = [];
  const copy: Fields = {};
  for (const key in node) {
    const value = node[key];
    // What was converted is not in the message as it is in the node.
    const kept = typeof value !== "object" || value === message[key] ? frozenCopy(value, parts) : undefined;
    if (kept === undefined) return node;
    copy[key] = kept;
  }
  const shape = shapeOf(message, known, node);
  const lasting = Object.freeze(copy) as Node;
  remembered.set(message, {
    shape,
    kwargs: message["lc_kwargs"] as Fields,
    node: lasting,
    values: [...shape.names.map((name) => message[name]), ...parts],
  });
  return lasting;
}

/** A message with more in it is not worth it, and may refer back to itself. */
const mostParts = 400;

/**
 * A frozen copy of plain data, or undefined for anything else. Of every object in it, `parts` gets the object, its names and
 * its values; of every list the list, its length and its elements.
 */
function frozenCopy(value: unknown, parts: unknown[]): unknown {
  if (typeof value !== "object" || value === null) return isJson(value) ? value : undefined;
  if (Array.isArray(value)) {
    if (parts.length + value.length > mostParts) return undefined;
    if (Object.getPrototypeOf(value) !== Array.prototype || !isOrdinaryArray(value)) return undefined;
    parts.push(value, value.length, ...(value as unknown[]));
    const copy: unknown[] = [];
    for (const element of value as unknown[]) {
      const kept = frozenCopy(element, parts);
      if (kept === undefined) return undefined;
      copy.push(kept);
    }
    return Object.freeze(copy);
  }
  const names = Object.keys(value);
  if (parts.length + names.length > mostParts) return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype || !isOrdinaryObject(value)) return undefined;
  // The first would be taken for a tag by the store, the other for a prototype.
  if (names.includes("$") || names.includes("__proto__")) return undefined;
  const copy: Fields = { ...value };
  parts.push(value, namesOf(names), ...names.map((name) => copy[name]));
  for (const name of names) {
    const kept = frozenCopy(copy[name], parts);
    if (kept === undefined) return undefined;
    copy[name] = kept;
  }
  return Object.freeze(copy);
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

const namesMade = new Map<string, readonly string[]>();
const mostNames = 1_000;

/** Objects of the same names share a list of them. */
function namesOf(names: readonly string[]): readonly string[] {
  const key = JSON.stringify(names);
  let shared = namesMade.get(key);
  if (shared === undefined) {
    if (namesMade.size >= mostNames) namesMade.clear();
    shared = names;
    namesMade.set(key, shared);
  }
  return shared;
}

function shapeOf(message: Fields, { keys: names, fields, message: kind }: KnownClass, node: Node): Shape {
  const { made } = kind as MessageClass;
  const objects: number[] = [];
  const lists: number[] = [];
  for (const { key } of fields) {
    const value = message[key];
    if (typeof value !== "object" || value === null || Object.hasOwn(node, key)) continue;
    (Array.isArray(value) ? lists : objects).push(names.indexOf(key));
  }
  let known = shapes.get(made);
  if (known === undefined) {
    known = new Map();
    shapes.set(made, known);
  }
  const empty = `${objects} ${lists}`;
  let shape = known.get(empty);
  if (shape === undefined) {
    const { keys: kwargsNames } = made;
    shape = { names, kwargsNames, sources: kwargsNames.map((name) => names.indexOf(name)), objects, lists };
    known.set(empty, shape);
  }
  return shape;
}

/**
 * Whether a message still is what its node was made of. That it is the same message says nothing, since messages are changed
 * in place: every part is looked at, but what kind of thing it is is not asked again. The parts are walked as they come,
 * which is faster than reading them by their names: classes of messages are many. What they were is between `first` and
 * `end`.
 */
function isUnchanged(
  message: Fields,
  kwargs: Fields,
  shape: Shape,
  values: readonly unknown[],
  first: number,
  end: number,
): boolean {
  const { names, kwargsNames, sources, objects, lists } = shape;
  if (!hasStill(message, names, values, first)) return false;
  let count = 0;
  for (const name in kwargs) {
    if (kwargsNames[count] !== name || !Object.is(kwargs[name], values[first + (sources[count] as number)]))
      return false;
    count++;
  }
  if (count !== kwargsNames.length) return false;
  for (let index = 0; index < lists.length; index++) {
    if ((values[first + (lists[index] as number)] as readonly unknown[]).length !== 0) return false;
  }
  for (let index = 0; index < objects.length; index++) {
    for (const _name in values[first + (objects[index] as number)] as object) return false;
  }
  const parts = first + names.length;
  return parts === end || areUnchanged(values, parts, end);
}

/** Whether an object has these names and no others, and the values that begin at `first`. */
function hasStill(object: Fields, names: readonly string[], values: readonly unknown[], first: number): boolean {
  let count = 0;
  for (const name in object) {
    if (names[count] !== name || !Object.is(object[name], values[first + count])) return false;
    count++;
  }
  return count === names.length;
}

/** Whether all objects and lists that a message holds are as they were. */
function areUnchanged(values: readonly unknown[], first: number, end: number): boolean {
  let at = first;
  while (at < end) {
    const names = values[at + 1] as number | readonly string[];
    if (typeof names === "number") {
      const list = values[at] as readonly unknown[];
      if (list.length !== names) return false;
      at += 2;
      for (let index = 0; index < names; index++) if (!Object.is(list[index], values[at + index])) return false;
      at += names;
    } else {
      if (!hasStill(values[at] as Fields, names, values, at + 2)) return false;
      at += 2 + names.length;
    }
  }
  return true;
}

/** Shorter lists are not worth it. */
const shortest = 16;
/** A step adds a few messages to a list: so many are looked at for the one that was its last. */
const lookedBack = 8;

/**
 * The messages at the start of a list, laid out in a row: a long conversation does not fit into the processor's nearest
 * caches, and what is read one after the other is there before it is asked for. It lives as long as its last message does.
 */
export class MessageRow {
  /** The nodes of the messages, in order. */
  readonly nodes: Node[] = [];
  /** For each: the message, its `lc_kwargs`, its shape, how many values there are, and the values. */
  readonly #cells: unknown[] = [];
  #last: object | undefined;

  /** The row of a list that begins like this one, if there is one, else a new one; undefined for a short list. */
  static of(list: readonly unknown[]): MessageRow | undefined {
    const { length } = list;
    if (length < shortest) return undefined;
    for (let index = length - 1; index >= length - lookedBack; index--) {
      const last = list[index] as object;
      const row = rows.get(last);
      if (row === undefined) continue;
      // Until it is kept again it is this list's alone: a list within the list may end with the same message.
      rows.delete(last);
      return row;
    }
    return new MessageRow();
  }

  /** How many messages of a list are those of the row, and as they were. The others leave it. */
  recall(list: readonly unknown[]): number {
    const cells = this.#cells;
    let cell = 0;
    let count = 0;
    while (cell < cells.length) {
      const message = cells[cell] as Fields;
      if (message !== list[count]) break;
      const first = cell + 4;
      const end = first + (cells[cell + 3] as number);
      if (!isUnchanged(message, cells[cell + 1] as Fields, cells[cell + 2] as Shape, cells, first, end)) break;
      cell = end;
      this.#last = message;
      count++;
    }
    cells.length = cell;
    this.nodes.length = count;
    return count;
  }

  /** The node of a message outside the row, if it is remembered and as it was. It joins the row if that ends before it. */
  node(message: object, index: number): Node | undefined {
    const node = recall(message);
    if (node !== undefined && index === this.nodes.length) {
      const { shape, kwargs, values } = remembered.get(message) as Remembered;
      this.#cells.push(message, kwargs, shape, values.length, ...values);
      this.nodes.push(node);
      this.#last = message;
    }
    return node;
  }

  /** Makes the row findable by the list's next version. */
  keep(): void {
    if (this.nodes.length > 0) rows.set(this.#last as object, this);
  }
}

/** By the last message of each. */
const rows = new WeakMap<object, MessageRow>();

/** The node that was made of a message before, if the message is as it was. */
export function recall(message: object): Node | undefined {
  const before = remembered.get(message);
  if (before === undefined) return undefined;
  const { shape, kwargs, values, node } = before;
  return isUnchanged(message as Fields, kwargs, shape, values, 0, values.length) ? node : undefined;
}
