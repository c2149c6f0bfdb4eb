import { isPlainObject } from "../../platform/plain-objects.ts";
import { isMessage, messageOf, messageText } from "../messages/message.ts";
import { withoutMarks } from "../messages/plain-text.ts";
import { countText } from "../quantities.ts";
import { isLangGraphState, splitKeys } from "../values/internals.ts";
import { previewOf } from "../values/preview.ts";
import { type Fields, oneLine, own } from "../values/records.ts";
import { plainRenderers, type Renderers } from "../values/renderers.ts";
import { isSame } from "../values/same.ts";

const MOST = 3;

/**
 * Says on a line what a step did to the state: "+1 message: It is 18 °C…", "total 12 → 5". Without a state before, says
 * what the thread began with. Empty if nothing changed that its user would see.
 */
export function changeSummary(before: unknown, after: unknown, renderers: Renderers = plainRenderers): string {
  if (!isPlainObject(after)) return isSame(before, after) ? "" : previewOf(after, 80, renderers);
  const input = isLangGraphState(after) ? own(after, "__start__") : undefined;
  // LangGraph keeps an input in a channel of its own until the first node has taken it.
  if (isPlainObject(input) && !isSame(isPlainObject(before) ? own(before, "__start__") : undefined, input))
    return changeSummary(undefined, input, renderers);
  const shown = splitKeys(after).shown;
  const texts: string[] = [];
  const add = (text: string | undefined, first = false): void => {
    if (text !== undefined && text !== "") first ? texts.unshift(text) : texts.push(text);
  };
  for (const key of shown) {
    const value = after[key];
    const isNew = !isPlainObject(before) || !Object.hasOwn(before, key);
    if (isNew) add(beginning(key, value, renderers), isMessages(value));
    else if (!isSame((before as Fields)[key], value))
      add(changeOf(key, (before as Fields)[key], value, renderers), isMessages(value));
  }
  if (isPlainObject(before)) for (const key of splitKeys(before).shown) if (!Object.hasOwn(after, key)) add(`− ${key}`);
  return texts.length <= MOST
    ? texts.join(" · ")
    : `${texts.slice(0, MOST).join(" · ")} · +${texts.length - MOST} more`;
}

function isMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && isMessage(value.at(-1));
}

/** Says what a key holds at first. Empty values say nothing. */
function beginning(key: string, value: unknown, renderers: Renderers): string | undefined {
  if (isMessages(value)) return addedMessages(value as readonly unknown[], key);
  if (value === undefined || value === null || value === "") return undefined;
  if (Array.isArray(value) && value.length === 0) return undefined;
  if ((value instanceof Map || value instanceof Set) && value.size === 0) return undefined;
  if (isPlainObject(value) && Object.keys(value).length === 0) return undefined;
  return `${key} ${previewOf(value, 48, renderers)}`;
}

function changeOf(name: string, before: unknown, after: unknown, renderers: Renderers, depth = 0): string {
  if (Array.isArray(before) && Array.isArray(after)) return listChange(name, before, after, renderers);
  if (before instanceof Set && after instanceof Set) return listChange(name, [...before], [...after], renderers);
  if (before instanceof Map && after instanceof Map) return mapChange(name, before, after, renderers);
  if (isPlainObject(before) && isPlainObject(after) && depth < 2 && renderers.of(after) === undefined)
    return recordChange(name, before, after, renderers, depth);
  if (typeof before === "string" && typeof after === "string" && before.length + after.length > 48)
    return after.startsWith(before) && before !== ""
      ? `${name} +${JSON.stringify(oneLine(after.slice(before.length), 48))}`
      : `${name} ${previewOf(after, 48, renderers)}`;
  return `${name} ${previewOf(before, 24, renderers)} → ${previewOf(after, 32, renderers)}`;
}

function listChange(name: string, before: readonly unknown[], after: readonly unknown[], renderers: Renderers): string {
  let start = 0;
  while (start < before.length && start < after.length && isSame(before[start], after[start])) start += 1;
  const added = after.slice(start);
  if (start === before.length) {
    if (isMessages(added)) return addedMessages(added, name);
    const last = added.at(-1);
    return `${name} +${added.length}: ${typeof last === "string" ? oneLine(last, 48) : previewOf(last, 48, renderers)}`;
  }
  if (start === after.length) return `${name} −${before.length - after.length}`;
  if (before.length === after.length) {
    const changed = after.filter((value, index) => !isSame(before[index], value)).length;
    const at = `${name}[${start}]`;
    if (changed === 1)
      return isMessages([after[start]])
        ? `${at} edited: ${messageLine(after[start])}`
        : changeOf(at, before[start], after[start], renderers, 1);
    return `${name} ${changed} of ${after.length} changed`;
  }
  return `${name} ${before.length} → ${countText(after.length, "item")}`;
}

function mapChange(
  name: string,
  before: ReadonlyMap<unknown, unknown>,
  after: ReadonlyMap<unknown, unknown>,
  renderers: Renderers,
): string {
  const keys = (list: readonly unknown[]): string =>
    oneLine(list.map((key) => (typeof key === "string" ? key : previewOf(key, 16, renderers))).join(", "), 40);
  const added = [...after.keys()].filter((key) => !before.has(key));
  if (added.length > 0) return `${name} +${added.length}: ${keys(added)}`;
  const removed = [...before.keys()].filter((key) => !after.has(key));
  if (removed.length > 0) return `${name} −${removed.length}: ${keys(removed)}`;
  return `${name} changed: ${keys([...after.keys()].filter((key) => !isSame(before.get(key), after.get(key))))}`;
}

function recordChange(name: string, before: Fields, after: Fields, renderers: Renderers, depth: number): string {
  const changed = Object.keys(after).filter((key) => !Object.hasOwn(before, key) || !isSame(before[key], after[key]));
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const [first] = changed;
  if (changed.length === 1 && removed.length === 0 && first !== undefined) {
    const path = `${name}.${first}`;
    return Object.hasOwn(before, first)
      ? changeOf(path, before[first], after[first], renderers, depth + 1)
      : `${path} ${previewOf(after[first], 40, renderers)}`;
  }
  if (changed.length === 0) return `− ${removed.map((key) => `${name}.${key}`).join(", ")}`;
  return `${name} changed: ${oneLine([...changed, ...removed].join(", "), 40)}`;
}

function addedMessages(messages: readonly unknown[], name: string): string {
  const noun = name === "messages" || /message|history|chat/i.test(name) ? "message" : name;
  const count = noun === "message" ? countText(messages.length, noun) : `${messages.length} ${noun}`;
  return `+${count}: ${messageLine(messages.at(-1))}`;
}

function messageLine(value: unknown): string {
  const message = messageOf(value);
  if (message === undefined) return previewOf(value, 60);
  const whole = messageText(message);
  // A tool answers with data, in which such marks mean something.
  const text = oneLine(message.role === "tool" ? whole : withoutMarks(whole), 80) || message.roleName;
  return message.role === "tool" && message.name !== undefined ? `${message.name} → ${text}` : text;
}
