import type { MessagePart } from "../../../display/messages/content.ts";
import { findMessages, type Turn, turnsOf } from "../../../display/messages/conversation.ts";
import { toTagged } from "../../../display/tagged-json.ts";
import { bytesOf, follow } from "../../../display/values/parts.ts";
import { previewOf } from "../../../display/values/preview.ts";
import { cutText } from "../../../display/values/records.ts";
import { isSame } from "../../../display/values/same.ts";
import type { Checkpoint } from "../../../model/checkpoint.ts";
import { HttpError } from "../../http/http-error.ts";
import type { ConversationPage, ResultPart, TurnFacts, TurnPart } from "../answers.ts";
import { type ApiContext, type Handler, type State, threadOf } from "../api-context.ts";

const LARGEST_PAGE = 200;
const SHOWN_TEXT = 20_000;
const SHOWN_JSON = 4_000;

/** The turns of the conversations that were read last: pairing calls with results takes the whole list. */
const known = new WeakMap<object, readonly Turn[]>();

/** Returns a stretch of the conversation in a state, oldest first, and which of it the step added. */
export const conversationPage: Handler<ConversationPage> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  const id = parameters.text("checkpoint");
  const limit = parameters.whole("limit", 1, LARGEST_PAGE, 50);
  const offset = parameters.has("offset") ? parameters.whole("offset", 0, Number.MAX_SAFE_INTEGER, 0) : undefined;
  parameters.end();
  const checkpoint = await context.states.get(thread, id);
  const found = findMessages(checkpoint.state);
  if (found === undefined) throw new HttpError(404, "NOT_FOUND", "This state holds no messages.");
  const turns = known.get(found.messages) ?? turnsOf(found.messages);
  known.set(found.messages, turns);
  const added = await firstAdded(context, thread.id, thread.namespace, checkpoint, found.path, found.messages);
  const start = offset ?? Math.max(0, turns.length - limit);
  return {
    path: found.path,
    total: turns.length,
    messages: found.messages.length,
    offset: start,
    turns: turns.slice(start, start + limit).map((turn) => shownTurn(turn, found.messages, added)),
  };
};

/** Returns the index of the first message that the parent's state lacks. */
async function firstAdded(
  context: ApiContext,
  thread: string,
  namespace: readonly string[],
  { parent, source }: Checkpoint<State>,
  path: readonly string[],
  messages: readonly unknown[],
): Promise<number> {
  if (parent === null) return source === "input" ? messages.length : 0;
  const before = await context.states.get(context.store.thread(thread, { namespace }), parent).catch(() => undefined);
  const { value } = follow(before?.state, path);
  if (!Array.isArray(value)) return 0;
  let index = 0;
  while (index < value.length && index < messages.length && isSame(value[index], messages[index])) index += 1;
  return index;
}

function shownTurn({ index, message, results }: Turn, messages: readonly unknown[], added: number): TurnFacts {
  const isAdded = index >= added || [...results.values()].some((result) => result.index >= added);
  if (message === undefined)
    return {
      index,
      role: "other",
      roleName: "value",
      name: null,
      id: null,
      model: null,
      tokens: null,
      added: isAdded,
      parts: [{ kind: "other", type: "value", text: previewOf(messages[index], 400) }],
    };
  const { role, roleName, name, id, model, tokens, parts } = message;
  return {
    index,
    role,
    roleName,
    name: name ?? null,
    id: id ?? null,
    model: model ?? null,
    tokens: tokens ?? null,
    added: isAdded,
    parts: parts.flatMap((part, position) => {
      const paired = results.get(position);
      const isPaired = part.kind === "result" && [...results.values()].some(({ result }) => result === part);
      return isPaired ? [] : [shownPart(part, paired && { ...shownResult(paired.result), index: paired.index })];
    }),
  };
}

function shownPart(part: MessagePart, result?: ResultPart): TurnPart {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return { kind: part.kind, ...cut(part.text, SHOWN_TEXT) };
    case "attachment":
      return { ...part, url: part.url ?? null, path: part.path ?? null, mediaType: part.mediaType ?? null };
    case "call":
      return {
        kind: "call",
        id: part.id ?? null,
        name: part.name,
        preview: callPreview(part.args),
        ...cut(jsonText(part.args), SHOWN_JSON),
        path: part.path,
        result: result ?? null,
      };
    case "result":
      return shownResult(part);
    default:
      return { kind: "other", type: part.type, text: previewOf(part.value, 400) };
  }
}

function shownResult(part: Extract<MessagePart, { readonly kind: "result" }>): ResultPart {
  return {
    kind: "result",
    id: part.id ?? null,
    name: part.name ?? null,
    failed: part.failed,
    preview: typeof part.value === "string" ? cutText(part.value, 120) : previewOf(part.value, 120),
    ...cut(typeof part.value === "string" ? part.value : jsonText(part.value), SHOWN_JSON),
    path: part.path,
  };
}

/** Returns the arguments of a call as they are read in a line: `city: "Lisbon"`. */
function callPreview(args: unknown): string {
  if (args === undefined || args === null) return "";
  const text = previewOf(args, 90);
  return text.startsWith("{ ") && text.endsWith(" }") ? text.slice(2, -2) : text === "{}" ? "" : text;
}

function cut(text: string, most: number): { readonly text: string; readonly cut: boolean } {
  return text.length <= most
    ? { text: text.toWellFormed(), cut: false }
    : { text: text.slice(0, most).toWellFormed(), cut: true };
}

function jsonText(value: unknown): string {
  if (value === undefined) return "";
  try {
    return JSON.stringify(toTagged(value), null, 2);
  } catch {
    return previewOf(value, SHOWN_JSON);
  }
}

/** The types of pictures that browsers draw without running anything inside them. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/** Returns the bytes of an attachment, and the type to send them as. */
export function attachmentOf(value: unknown): { readonly body: Buffer; readonly type: string } | undefined {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return { body: Buffer.from(bytes), type: pictureType(bytes) };
  if (typeof value !== "string") return undefined;
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(value) ?? [undefined, value];
  if (data === undefined || !/^[\w+/=\s-]+$/.test(data)) return undefined;
  const body = Buffer.from(data, "base64");
  return { body, type: pictureType(body) };
}

/** Tells a picture by its first bytes: the type that a state names may be a lie. */
function pictureType(bytes: Uint8Array): string {
  const starts = (...first: readonly number[]): boolean => first.every((byte, index) => bytes[index] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return PICTURES[0]!;
  if (starts(0xff, 0xd8, 0xff)) return PICTURES[1]!;
  if (starts(0x47, 0x49, 0x46, 0x38)) return PICTURES[2]!;
  if (starts(0x52, 0x49, 0x46, 0x46) && bytes[8] === 0x57 && bytes[9] === 0x45) return PICTURES[3]!;
  if (starts(0x42, 0x4d)) return PICTURES[5]!;
  return "application/octet-stream";
}
