import { isPlainObject } from "../../platform/plain-objects.ts";
import { type Fields, own, textAt } from "../values/records.ts";
import { plainRenderers } from "../values/renderers.ts";
import { callsIn, type MessagePart, partsIn, resultsIn } from "./content.ts";
import { CLASSES, ROLES, type Role } from "./roles.ts";

/** A message of a conversation, whichever library wrote it. */
export interface ConversationMessage {
  readonly role: Role;
  /** The role or class as it is stored: "HumanMessage", "developer". */
  readonly roleName: string;
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly parts: readonly MessagePart[];
  readonly model: string | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

/** Items of OpenAI's responses that are no messages by themselves, but belong to a conversation. */
const ITEMS: Readonly<Record<string, Role>> = {
  function_call: "assistant",
  function_call_output: "tool",
  reasoning: "assistant",
};

/**
 * Returns a value as a message, or undefined if it is none: LangChain's classes, OpenAI's messages and items, the AI SDK's
 * messages, Anthropic's blocks, and any `{ role, content }` or `{ role, text }`.
 */
export function messageOf(value: unknown): ConversationMessage | undefined {
  if (!isPlainObject(value)) return undefined;
  const rendered = plainRenderers.of(value);
  if (rendered?.title !== undefined) return classMessage(rendered.title, rendered.fields ?? value);
  const data = own(value, "data");
  const type = textAt(value, "type");
  // LangChain's dictionaries: { type: "human", data: { content } }, and { type: "human", content }.
  if (type !== undefined && ROLES[type] !== undefined && isPlainObject(data) && Object.hasOwn(data, "content"))
    return messageFrom(ROLES[type], type, data);
  const role = textAt(value, "role");
  if (role !== undefined && ROLES[role.toLowerCase()] !== undefined && hasContent(value))
    return messageFrom(ROLES[role.toLowerCase()]!, role, value);
  if (type !== undefined && ROLES[type] !== undefined && Object.hasOwn(value, "content") && role === undefined)
    return messageFrom(ROLES[type], type, value);
  if (type !== undefined && ITEMS[type] !== undefined && isItem(type, value))
    return messageFrom(ITEMS[type], type, value);
  return undefined;
}

/** Tells whether a value is a message, for less than {@link messageOf} costs. */
export function isMessage(value: unknown): boolean {
  return messageOf(value) !== undefined;
}

/** Returns the text of a message, or what it calls, on as many lines as it has. */
export function messageText({ parts }: ConversationMessage): string {
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (texts.some((text) => text.trim() !== "")) return texts.join("\n");
  for (const part of parts) {
    if (part.kind === "call") return `calls ${part.name}`;
    if (part.kind === "result") return resultText(part.value);
    if (part.kind === "attachment") return part.name;
    if (part.kind === "reasoning") return part.text;
  }
  return "";
}

function resultText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, textOfBigints) ?? String(value));
}

function textOfBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

function isItem(type: string, value: Fields): boolean {
  return type === "reasoning" ? Array.isArray(own(value, "summary")) : typeof own(value, "call_id") === "string";
}

function hasContent(value: Fields): boolean {
  return ["content", "text", "parts", "tool_calls", "toolInvocations"].some((key) => Object.hasOwn(value, key));
}

function classMessage(title: string, fields: Fields): ConversationMessage | undefined {
  const role = CLASSES[title.replace(/Chunk$/, "")];
  if (role === undefined) return undefined;
  const named = title.startsWith("ChatMessage") ? ROLES[textAt(fields, "role")?.toLowerCase() ?? ""] : undefined;
  return messageFrom(named ?? role, title, fields);
}

function messageFrom(role: Role, roleName: string, fields: Fields): ConversationMessage {
  const parts: MessagePart[] = [...partsIn(fields, role), ...callsIn(fields), ...resultsIn(fields, role)];
  return {
    role,
    roleName,
    name: textAt(fields, "name"),
    id: textAt(fields, "id"),
    parts: withoutRepeatedCalls(parts),
    model: modelIn(fields),
    tokens: tokensIn(fields),
  };
}

/** Drops calls that a message has twice: Anthropic's blocks in its content, and LangChain's list of them. */
function withoutRepeatedCalls(parts: readonly MessagePart[]): readonly MessagePart[] {
  const seen = new Set<string>();
  return parts.filter((part) => {
    if (part.kind !== "call" || part.id === undefined) return true;
    if (seen.has(part.id)) return false;
    seen.add(part.id);
    return true;
  });
}

function modelIn(fields: Fields): string | undefined {
  for (const key of ["response_metadata", "metadata"]) {
    const about = own(fields, key);
    if (!isPlainObject(about)) continue;
    for (const name of ["model_name", "model", "modelId", "model_id"]) {
      const model = textAt(about, name);
      if (model !== undefined && model !== "") return model;
    }
  }
  return textAt(fields, "model");
}

function tokensIn(fields: Fields): ConversationMessage["tokens"] {
  const about = own(fields, "response_metadata");
  const metadata = own(fields, "metadata");
  const places = [
    own(fields, "usage_metadata"),
    own(fields, "usage"),
    isPlainObject(metadata) ? own(metadata, "usage") : undefined,
    isPlainObject(about) ? (own(about, "tokenUsage") ?? own(about, "usage")) : undefined,
  ];
  for (const place of places) {
    if (!isPlainObject(place)) continue;
    const input = count(place, ["input_tokens", "inputTokens", "prompt_tokens", "promptTokens"]);
    const output = count(place, ["output_tokens", "outputTokens", "completion_tokens", "completionTokens"]);
    if (input !== undefined || output !== undefined) return { input: input ?? 0, output: output ?? 0 };
  }
  return undefined;
}

function count(record: Fields, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = own(record, key);
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}
