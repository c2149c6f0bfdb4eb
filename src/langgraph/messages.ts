import type { Field, KnownClass, MessageClass } from "./classes.ts";
import { type Convert, isEmpty, lettersOf, type StoredInstance } from "./instances.ts";

/** What all messages have. */
interface Message {
  readonly id: unknown;
  readonly name: unknown;
  readonly content: unknown;
  readonly additional_kwargs: unknown;
  readonly response_metadata: unknown;
  readonly type: unknown;
  readonly lc_serializable: unknown;
  readonly lc_kwargs: unknown;
  readonly [key: string]: unknown;
}

type Node = StoredInstance & Record<string, unknown>;

/**
 * The node of a message like nearly all are; undefined for one that is not. A step meets a thousand of them, of which one is
 * new: so properties are named here that elsewhere would be listed, which is three times as fast.
 */
export function messageNode(message: Message, known: KnownClass, convert: Convert): Node | undefined {
  const kind = known.message as MessageClass;
  if (!hasKeys(message, known.keys) || !isMessageOf(message, kind)) return undefined;
  const { id, name, content, additional_kwargs, response_metadata } = message;
  const kw = lettersOfKwargs(message, kind);
  if (kw === undefined) return undefined;
  const node: Record<string, unknown> = {
    lc: known.name,
    content: typeof content === "string" ? content : convert(content),
  };
  if (id !== undefined) node["id"] = id;
  if (name !== undefined) node["name"] = name;
  if (!isEmpty(additional_kwargs, "object")) node["additional_kwargs"] = convert(additional_kwargs);
  if (!isEmpty(response_metadata, "object")) node["response_metadata"] = convert(response_metadata);
  const { fields } = kind;
  for (let index = 0; index < fields.length; index++) {
    const { key, usual } = fields[index] as Field;
    const value = message[key];
    if (value === undefined ? usual !== undefined : !isEmpty(value, usual)) node[key] = convert(value);
  }
  node["kw"] = kw;
  return remember(message, known, node as Node);
}

/** A message whose node cannot change, and all of it that the node was made of. */
interface Remembered {
  readonly known: KnownClass;
  readonly node: Node;
  readonly message: Parts;
  readonly lc_kwargs: unknown;
  readonly kwargs: Parts;
  /** The keys of `lc_kwargs`. */
  readonly keys: readonly string[];
  /** What is not named in {@link Parts}, of the message and of `lc_kwargs`. */
  readonly fields: readonly (readonly [key: string, value: unknown])[];
  readonly rest: readonly (readonly [key: string, value: unknown])[];
}

/** What is compared by name, which is several times as fast as by a list of names. */
interface Parts {
  readonly id: unknown;
  readonly name: unknown;
  readonly content: unknown;
  readonly additional_kwargs: unknown;
  readonly response_metadata: unknown;
  readonly tool_calls: unknown;
  readonly invalid_tool_calls: unknown;
  readonly usage_metadata: unknown;
}

function partsOf(from: Message): Parts {
  const { id, name, content, additional_kwargs, response_metadata } = from;
  const { tool_calls, invalid_tool_calls, usage_metadata } = from;
  return { id, name, content, additional_kwargs, response_metadata, tool_calls, invalid_tool_calls, usage_metadata };
}

const partNames = new Set(Object.keys(partsOf({} as Message)));

const remembered = new WeakMap<object, Remembered>();

/** Remembers the node of a message that is nothing but text: it is frozen, so that the store knows it again as well. */
function remember(message: Message, known: KnownClass, node: Node): Node {
  for (const key in node) if (typeof node[key] !== "string") return node;
  const { fields, made } = known.message as MessageClass;
  const kwargs = message.lc_kwargs as Message;
  remembered.set(message, {
    known,
    node: Object.freeze(node),
    message: partsOf(message),
    lc_kwargs: kwargs,
    kwargs: partsOf(kwargs),
    keys: made.keys,
    fields: fields.filter(({ key }) => !partNames.has(key)).map(({ key }) => [key, message[key]]),
    rest: made.keys.filter((key) => !partNames.has(key)).map((key) => [key, kwargs[key]]),
  });
  return node;
}

/**
 * The node that was made of a message before, if the message still is what it was made of. That it is the same message says
 * nothing, since messages are changed in place: every part is looked at, but what kind of thing it is is not asked again.
 */
export function rememberedNode(value: object): Node | undefined {
  const before = remembered.get(value);
  if (before === undefined) return undefined;
  const message = value as Message;
  const kwargs = message.lc_kwargs as Message;
  const { known, keys, fields, rest } = before;
  const same =
    sameParts(message, before.message) &&
    kwargs === before.lc_kwargs &&
    sameParts(kwargs, before.kwargs) &&
    isMessageOf(message, known.message as MessageClass) &&
    isBare(message.additional_kwargs) &&
    isBare(message.response_metadata) &&
    isBareList(message["tool_calls"]) &&
    isBareList(message["invalid_tool_calls"]) &&
    hasKeys(message, known.keys) &&
    hasKeys(kwargs, keys) &&
    (fields.length === 0 || sameEntries(message, fields)) &&
    (rest.length === 0 || sameEntries(kwargs, rest));
  return same ? before.node : undefined;
}

function sameParts(message: Message, before: Parts): boolean {
  return (
    message.content === before.content &&
    message.id === before.id &&
    message.name === before.name &&
    message.additional_kwargs === before.additional_kwargs &&
    message.response_metadata === before.response_metadata &&
    message["tool_calls"] === before.tool_calls &&
    message["invalid_tool_calls"] === before.invalid_tool_calls &&
    message["usage_metadata"] === before.usage_metadata
  );
}

function sameEntries(message: Message, entries: Remembered["fields"]): boolean {
  for (const [key, before] of entries) {
    const value = message[key];
    if (value !== before) return false;
    if (typeof value === "object" && value !== null && !(Array.isArray(value) ? isBareList(value) : isBare(value))) {
      return false;
    }
  }
  return true;
}

/** Whether an object has no properties. */
function isBare(value: unknown): boolean {
  for (const _key in value as object) return false;
  return true;
}

function isBareList(value: unknown): boolean {
  return value === undefined || (value as readonly unknown[]).length === 0;
}

/** Its namespace is not looked at: it is the class's name in another form, and one more place in memory to fetch. */
function isMessageOf(message: Message, kind: MessageClass): boolean {
  return message.type === kind.type && message.lc_serializable === true && message.content !== undefined;
}

/** Whether an object has these properties in this order. Makes no list of them: there would be two for every message. */
function hasKeys(value: object, keys: readonly string[]): boolean {
  let count = 0;
  for (const key in value) if (key !== keys[count++]) return false;
  return count === keys.length;
}

/** The letters of `lc_kwargs` if it holds the message's own values. Most messages of a class are made of the same keys. */
function lettersOfKwargs(message: Message, kind: MessageClass): string | undefined {
  const kwargs = message.lc_kwargs as Message;
  if (typeof kwargs !== "object" || kwargs === null || Object.getPrototypeOf(kwargs) !== Object.prototype)
    return undefined;
  const { made } = kind;
  if (!hasKeys(kwargs, made.keys)) {
    const keys = Object.keys(kwargs);
    const letters = lettersOf(kwargs as Record<string, unknown>, message as Record<string, unknown>);
    if (letters !== undefined) kind.made = { keys, letters, rest: keys.filter((key) => !named.has(key)) };
    return letters;
  }
  return holdsOwn(kwargs, message, made) ? made.letters : undefined;
}

/** Whether the values of `lc_kwargs` are the message's own. */
function holdsOwn(kwargs: Message, message: Message, { rest }: MessageClass["made"]): boolean {
  if (kwargs.content !== message.content || kwargs.additional_kwargs !== message.additional_kwargs) return false;
  if (kwargs.response_metadata !== message.response_metadata) return false;
  for (let index = 0; index < rest.length; index++) {
    const key = rest[index] as string;
    if (kwargs[key] !== message[key]) return false;
  }
  return true;
}

/** The keys that every message is made of, so that they are compared by name. */
const named = new Set(["content", "additional_kwargs", "response_metadata"]);
