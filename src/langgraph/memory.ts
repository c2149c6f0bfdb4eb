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

/**
 * A message whose node cannot change, and all of it that the node was made of. A long conversation does not fit into the
 * processor's nearest caches: so this is kept small, and everything in it is needed.
 */
export interface Remembered {
  readonly shape: Shape;
  readonly message: Fields;
  readonly kwargs: Fields;
  readonly node: Node;
  /** What the message's properties were. */
  readonly values: readonly unknown[];
  /** The message that followed in the list where this one was last met: a list is mostly what it was, and one more. */
  next: Remembered | undefined;
}

const remembered = new WeakMap<object, Remembered>();
const shapes = new WeakMap<MessageClass["made"], Shape>();

/** Remembers the node of a message that is nothing but text: it is frozen, so that the store knows it again as well. */
export function remember(message: Fields, known: KnownClass, node: Node): Node {
  for (const key in node) if (typeof node[key] !== "string") return node;
  const shape = shapeOf(message, known);
  remembered.set(message, {
    shape,
    message,
    kwargs: message["lc_kwargs"] as Fields,
    node: Object.freeze(node),
    values: shape.names.map((name) => message[name]),
    next: undefined,
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
 * What is remembered of a message, if the message still is what its node was made of. That it is the same message says
 * nothing, since messages are changed in place: every part is looked at, but what kind of thing it is is not asked again.
 * `last` is what the message before it in the same list is remembered as.
 */
export function recall(message: object, last: Remembered | undefined): Remembered | undefined {
  const next = last?.next;
  const before = next !== undefined && next.message === message ? next : remembered.get(message);
  if (before === undefined || !isUnchanged(before)) return undefined;
  if (last !== undefined && next !== before) last.next = before;
  return before;
}

/** Walks by the properties there are, which is faster than reading them by their names: classes of messages are many. */
function isUnchanged({ shape, message, kwargs, values }: Remembered): boolean {
  const { names, kwargsNames, sources, objects, lists } = shape;
  let count = 0;
  for (const name in message) {
    if (names[count] !== name || !Object.is(message[name], values[count])) return false;
    count++;
  }
  if (count !== names.length) return false;
  count = 0;
  for (const name in kwargs) {
    if (kwargsNames[count] !== name || !Object.is(kwargs[name], values[sources[count] as number])) return false;
    count++;
  }
  if (count !== kwargsNames.length) return false;
  for (let index = 0; index < lists.length; index++) {
    if ((values[lists[index] as number] as readonly unknown[]).length !== 0) return false;
  }
  for (let index = 0; index < objects.length; index++) {
    for (const _name in values[objects[index] as number] as object) return false;
  }
  return true;
}
