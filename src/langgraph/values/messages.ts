import type { Field, KnownClass, MessageClass } from "./classes.ts";
import { type Convert, isEmpty, lettersOf } from "./instances.ts";
import { type Node, remember } from "./known-messages.ts";

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
  // Nearly always text, but nothing holds a message to that.
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
  return remember(message, known, node as Node);
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
