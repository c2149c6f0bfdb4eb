import type { KnownClass, MessageClass } from "./classes.ts";
import type { StoredInstance } from "./instances.ts";

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
  /** What the message's properties were. */
  readonly values: readonly unknown[];
}

const remembered = new WeakMap<object, Remembered>();
const shapes = new WeakMap<MessageClass["made"], Shape>();

/** Remembers the node of a message that is nothing but text: it is frozen, so that the store knows it again as well. */
export function remember(message: Fields, known: KnownClass, node: Node): Node {
  for (const key in node) if (typeof node[key] !== "string") return node;
  const shape = shapeOf(message, known);
  remembered.set(message, {
    shape,
    kwargs: message["lc_kwargs"] as Fields,
    node: Object.freeze(node),
    values: shape.names.map((name) => message[name]),
  });
  return node;
}

function shapeOf(message: Fields, { keys: names, fields, message: kind }: KnownClass): Shape {
  const { made } = kind as MessageClass;
  const objects: number[] = [];
  const lists: number[] = [];
  for (const { key } of fields) {
    const value = message[key];
    if (typeof value === "object") (Array.isArray(value) ? lists : objects).push(names.indexOf(key));
  }
  const known = shapes.get(made);
  if (known !== undefined && String(known.objects) === String(objects) && String(known.lists) === String(lists)) {
    return known;
  }
  const { keys: kwargsNames } = made;
  const shape = { names, kwargsNames, sources: kwargsNames.map((name) => names.indexOf(name)), objects, lists };
  shapes.set(made, shape);
  return shape;
}

/**
 * Whether a message still is what its node was made of. That it is the same message says nothing, since messages are changed
 * in place: every part is looked at, but what kind of thing it is is not asked again. The parts are walked as they come,
 * which is faster than reading them by their names: classes of messages are many. What they were begins at `first`.
 */
function isUnchanged(
  message: Fields,
  kwargs: Fields,
  shape: Shape,
  values: readonly unknown[],
  first: number,
): boolean {
  const { names, kwargsNames, sources, objects, lists } = shape;
  let count = 0;
  for (const name in message) {
    if (names[count] !== name || !Object.is(message[name], values[first + count])) return false;
    count++;
  }
  if (count !== names.length) return false;
  count = 0;
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
  /** For each: the message, its `lc_kwargs`, its shape, and what its properties were. */
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
      const shape = cells[cell + 2] as Shape;
      if (message !== list[count]) break;
      if (!isUnchanged(message, cells[cell + 1] as Fields, shape, cells, cell + 3)) break;
      cell += 3 + shape.names.length;
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
      this.#cells.push(message, kwargs, shape, ...values);
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
  return isUnchanged(message as Fields, kwargs, shape, values, 0) ? node : undefined;
}
