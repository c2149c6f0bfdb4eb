import type { Field, KnownClass, MessageClass } from "./classes.ts";
import { type Convert, isEmpty, lettersOf } from "./instances.ts";
import type { MessageNode } from "./message-snapshot.ts";

/** The properties that all messages have. */
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

/**
 * Returns the node of a message with the usual properties, undefined for any other message. Properties are named here
 * rather than listed, which is three times as fast: a step may meet a thousand messages.
 */
export function messageNode(message: Message, known: KnownClass, convert: Convert): MessageNode | undefined {
  const kind = known.message as MessageClass;
  if (!hasKeys(message, known.keys) || !isMessageOf(message, kind)) return undefined;
  const { id, name, content, additional_kwargs, response_metadata } = message;
  const kw = lettersOfKwargs(message, kind);
  if (kw === undefined) return undefined;
  const node: Record<string, unknown> = {
    lc: known.name,
    content: typeof content === "string" ? content : convert(content),
  };
  // Nearly always text, but a message may hold any value there.
  if (id !== undefined) node["id"] = convert(id);
  if (name !== undefined) node["name"] = convert(name);
  if (!isEmpty(additional_kwargs, "object")) node["additional_kwargs"] = convert(additional_kwargs);
  if (!isEmpty(response_metadata, "object")) node["response_metadata"] = convert(response_metadata);
  const { fields } = kind;
  for (let index = 0; index < fields.length; index++) {
    const { key, usual } = fields[index] as Field;
    const value = message[key];
    if (value === undefined ? usual !== undefined : !isEmpty(value, usual)) node[key] = convert(value);
  }
  node["kw"] = kw;
  return node as MessageNode;
}

/** Checks the constants of a message, but for its namespace, which repeats the class and costs another fetch from memory. */
function isMessageOf(message: Message, kind: MessageClass): boolean {
  return message.type === kind.type && message.lc_serializable === true && message.content !== undefined;
}

/** Tells whether an object has exactly these properties in this order, without making a list of them. */
function hasKeys(value: object, keys: readonly string[]): boolean {
  let count = 0;
  for (const key in value) if (key !== keys[count++]) return false;
  return count === keys.length;
}

/** Returns the letters of `lc_kwargs` if it holds the message's own values. Most messages of a class have the same keys there. */
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

/** Tells whether the values of `lc_kwargs` are the message's own. */
function holdsOwn(kwargs: Message, message: Message, { rest }: MessageClass["made"]): boolean {
  if (kwargs.content !== message.content || kwargs.additional_kwargs !== message.additional_kwargs) return false;
  if (kwargs.response_metadata !== message.response_metadata) return false;
  for (let index = 0; index < rest.length; index++) {
    const key = rest[index] as string;
    if (kwargs[key] !== message[key]) return false;
  }
  return true;
}

/** The keys that the `lc_kwargs` of every message have, and that are compared by name. */
const named = new Set(["content", "additional_kwargs", "response_metadata"]);
