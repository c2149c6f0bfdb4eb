import { isPlainObject } from "../../platform/plain-objects.ts";
import { splitKeys } from "../values/internals.ts";
import type { MessagePart } from "./content.ts";
import { type ConversationMessage, isMessage, messageOf } from "./message.ts";

/** A list of messages in a state, and where it is. */
export interface MessageList {
  readonly path: readonly string[];
  readonly messages: readonly unknown[];
}

/** The names that such lists usually have; others are found by what they hold. */
const USUAL = ["messages", "chat_history", "history", "conversation", "chat"];

/**
 * Finds the conversation in a state: the list of messages under its usual name, or else the longest list of messages among
 * the keys of the state and the keys one level down.
 */
export function findMessages(state: unknown): MessageList | undefined {
  const lists = [...listsIn(state, [])];
  if (isPlainObject(state)) {
    for (const key of splitKeys(state).shown) if (isPlainObject(state[key])) lists.push(...listsIn(state[key], [key]));
  }
  const rank = ({ path }: MessageList): number => {
    const index = USUAL.indexOf(path.at(-1) ?? "");
    return (index < 0 ? USUAL.length : index) + (path.length - 1) * 10;
  };
  return lists.sort((left, right) => rank(left) - rank(right) || right.messages.length - left.messages.length)[0];
}

function* listsIn(value: unknown, path: readonly string[]): Generator<MessageList> {
  if (!isPlainObject(value)) return;
  for (const key of splitKeys(value).shown) {
    const list = value[key];
    if (Array.isArray(list) && isMessageList(list)) yield { path: [...path, key], messages: list };
  }
}

const SAMPLES = 5;

/** Tells whether a list holds messages, judging by a few of its elements. */
function isMessageList(list: readonly unknown[]): boolean {
  if (list.length === 0) return false;
  const stride = Math.max(1, Math.floor(list.length / SAMPLES));
  for (let index = 0; index < list.length; index += stride) if (!isMessage(list[index])) return false;
  return isMessage(list.at(-1));
}

type Result = Extract<MessagePart, { readonly kind: "result" }>;

/** A message of a conversation with its place in the list, and the results of the tools that it calls. */
export interface Turn {
  readonly index: number;
  /** Undefined for an element that is no message. */
  readonly message: ConversationMessage | undefined;
  /** The results of the message's calls, by the position of the call among its parts. */
  readonly results: ReadonlyMap<number, { readonly index: number; readonly result: Result }>;
}

/**
 * Returns the turns of a conversation in order. A message that only holds results of calls made earlier is no turn: its
 * results are with their calls.
 */
export function turnsOf(list: readonly unknown[]): readonly Turn[] {
  const messages = list.map(messageOf);
  const resultsById = new Map<string, { index: number; result: Result }[]>();
  for (const [index, message] of messages.entries()) {
    for (const part of message?.parts ?? []) {
      if (part.kind !== "result" || part.id === undefined) continue;
      const known = resultsById.get(part.id);
      if (known === undefined) resultsById.set(part.id, [{ index, result: part }]);
      else known.push({ index, result: part });
    }
  }
  const taken = new Set<Result>();
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const results = new Map<number, { index: number; result: Result }>();
    for (const [position, part] of (message?.parts ?? []).entries()) {
      if (part.kind !== "call" || part.id === undefined) continue;
      const found = resultsById.get(part.id)?.find(({ index: at, result }) => at >= index && !taken.has(result));
      if (found === undefined) continue;
      taken.add(found.result);
      results.set(position, found);
    }
    const rest = message?.parts.filter((part) => part.kind !== "result" || !taken.has(part));
    if (message !== undefined && rest?.length === 0 && message.parts.length > 0) continue;
    turns.push({ index, message, results });
  }
  return turns;
}
