import { isPlainObject } from "../../platform/plain-objects.ts";
import { bytesOf } from "../values/parts.ts";
import { type Fields, own, textAt } from "../values/records.ts";
import type { Role } from "./roles.ts";

/** A part of a message. */
export type MessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | Attachment
  | {
      readonly kind: "call";
      readonly id: string | undefined;
      readonly name: string;
      readonly args: unknown;
      /** Where in the message the arguments are. */
      readonly path: readonly (string | number)[];
    }
  | {
      readonly kind: "result";
      readonly id: string | undefined;
      readonly name: string | undefined;
      readonly value: unknown;
      readonly failed: boolean;
      readonly path: readonly (string | number)[];
    }
  | { readonly kind: "other"; readonly type: string; readonly value: unknown };

export interface Attachment {
  readonly kind: "attachment";
  readonly name: string;
  readonly mediaType: string | undefined;
  /** The address that the attachment is at, if it is not in the state. */
  readonly url: string | undefined;
  /** Where in the message its bytes are: base64, a data URL, or bytes. */
  readonly path: readonly (string | number)[] | undefined;
}

type Path = readonly (string | number)[];

/** Returns the content of a message as parts: its text, or its blocks. */
export function partsIn(fields: Fields, role: Role): readonly MessagePart[] {
  const parts = own(fields, "parts");
  if (Array.isArray(parts)) return parts.flatMap((block: unknown, index) => blockParts(block, ["parts", index]));
  const key = Object.hasOwn(fields, "content") ? "content" : "text";
  const content = own(fields, key);
  if (Array.isArray(own(fields, "summary")) && content === undefined) return reasoningItem(fields);
  // The whole content of a tool's message is its result.
  if (role === "tool" && !isBlockList(content)) return [];
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  if (Array.isArray(content)) return content.flatMap((block: unknown, index) => blockParts(block, [key, index]));
  if (content === undefined || content === null) return [];
  return [{ kind: "other", type: "content", value: content }];
}

/** Tells whether a tool's content is a list of blocks that name results themselves, as the AI SDK's and Anthropic's do. */
function isBlockList(content: unknown): boolean {
  return (
    Array.isArray(content) &&
    content.some((block) => isPlainObject(block) && /^tool[-_]result$/.test(textAt(block, "type") ?? ""))
  );
}

/** Returns the calls of tools that a message lists beside its content. */
export function callsIn(fields: Fields): readonly MessagePart[] {
  const calls: MessagePart[] = [];
  const listed = own(fields, "tool_calls");
  if (Array.isArray(listed)) {
    for (const [index, call] of listed.entries()) {
      if (!isPlainObject(call)) continue;
      const called = own(call, "function");
      const id = textAt(call, "id");
      if (isPlainObject(called))
        calls.push({
          kind: "call",
          id,
          name: textAt(called, "name") ?? "tool",
          args: parsed(own(called, "arguments")),
          path: ["tool_calls", index, "function", "arguments"],
        });
      else
        calls.push({
          kind: "call",
          id,
          name: textAt(call, "name") ?? "tool",
          args: own(call, "args") ?? own(call, "arguments") ?? own(call, "input"),
          path: ["tool_calls", index],
        });
    }
  }
  const invocations = own(fields, "toolInvocations");
  if (Array.isArray(invocations))
    calls.push(...invocations.flatMap((one: unknown, index) => invocation(one, ["toolInvocations", index])));
  if (textAt(fields, "type") === "function_call")
    calls.push({
      kind: "call",
      id: textAt(fields, "call_id"),
      name: textAt(fields, "name") ?? "tool",
      args: parsed(own(fields, "arguments")),
      path: ["arguments"],
    });
  return calls;
}

/** Returns the result that a tool's message is as a whole. */
export function resultsIn(fields: Fields, role: Role): readonly MessagePart[] {
  if (role !== "tool" || isBlockList(own(fields, "content"))) return [];
  const key = ["content", "output", "text"].find((name) => Object.hasOwn(fields, name)) ?? "content";
  const failed = textAt(fields, "status") === "error" || own(fields, "is_error") === true;
  return [
    {
      kind: "result",
      id: textAt(fields, "tool_call_id") ?? textAt(fields, "call_id") ?? textAt(fields, "toolCallId"),
      name: textAt(fields, "name"),
      value: parsed(own(fields, key)),
      failed,
      path: [key],
    },
  ];
}

function blockParts(block: unknown, path: Path): readonly MessagePart[] {
  if (typeof block === "string") return [{ kind: "text", text: block }];
  if (!isPlainObject(block)) return [{ kind: "other", type: typeof block, value: block }];
  const type = textAt(block, "type") ?? "";
  const text = textAt(block, "text") ?? textAt(block, "refusal");
  if (["text", "input_text", "output_text", "refusal", ""].includes(type) && text !== undefined)
    return text === "" ? [] : [{ kind: "text", text }];
  if (["thinking", "reasoning", "redacted_thinking"].includes(type)) {
    const thought = textAt(block, "thinking") ?? textAt(block, "reasoning") ?? text ?? "";
    return thought === "" ? [] : [{ kind: "reasoning", text: thought }];
  }
  if (type === "tool_use" || type === "tool-call" || type === "tool_call")
    return [
      {
        kind: "call",
        id: textAt(block, "id") ?? textAt(block, "toolCallId"),
        name: textAt(block, "name") ?? textAt(block, "toolName") ?? "tool",
        args: parsed(own(block, "input") ?? own(block, "args")),
        path,
      },
    ];
  if (type === "tool_result" || type === "tool-result") return [blockResult(block, path)];
  if (type.startsWith("tool-") || type === "dynamic-tool") return invocation(block, path);
  if (type === "step-start" || type === "input_json_delta") return [];
  return [attachmentIn(block, type, path) ?? { kind: "other", type: type || "block", value: block }];
}

function blockResult(block: Fields, path: Path): MessagePart {
  const output = own(block, "output") ?? own(block, "result") ?? own(block, "content");
  const isWrapped = isPlainObject(output) && typeof own(output, "type") === "string" && Object.hasOwn(output, "value");
  return {
    kind: "result",
    id: textAt(block, "tool_use_id") ?? textAt(block, "toolCallId"),
    name: textAt(block, "toolName"),
    value: parsed(isWrapped ? own(output, "value") : output),
    failed:
      own(block, "is_error") === true ||
      own(block, "isError") === true ||
      (isWrapped && /^error/.test(String(own(output, "type")))),
    path,
  };
}

/** Returns a call and its result, which the AI SDK's messages for pages keep together. */
function invocation(value: unknown, path: Path): readonly MessagePart[] {
  if (!isPlainObject(value)) return [];
  const type = textAt(value, "type") ?? "";
  const name = textAt(value, "toolName") ?? (type.startsWith("tool-") ? type.slice("tool-".length) : "tool");
  const id = textAt(value, "toolCallId");
  const call: MessagePart = { kind: "call", id, name, args: own(value, "input") ?? own(value, "args"), path };
  const error = textAt(value, "errorText");
  const output = own(value, "output") ?? own(value, "result");
  if (error === undefined && output === undefined) return [call];
  return [call, { kind: "result", id, name, value: error ?? output, failed: error !== undefined, path }];
}

function attachmentIn(block: Fields, type: string, path: Path): Attachment | undefined {
  const kind = type.replace(/^input_/, "");
  if (!["image", "image_url", "file", "audio", "video", "document", "media", "input_audio"].includes(kind))
    return undefined;
  const sourceKey = ["source", "image_url", "file", "input_audio", "url", "data", "image"].find((key) =>
    Object.hasOwn(block, key),
  );
  const source = sourceKey === undefined ? undefined : own(block, sourceKey);
  const inner = isPlainObject(source) ? source : block;
  const innerPath = isPlainObject(source) ? [...path, sourceKey as string] : path;
  const mediaType =
    ["mediaType", "mimeType", "mime_type", "media_type"]
      .map((key) => textAt(inner, key) ?? textAt(block, key))
      .find(Boolean) ?? undefined;
  for (const key of ["url", "data", "file_data", "base64", "image_url", "image"]) {
    const value = own(inner, key);
    if (typeof value === "string" && /^https?:/.test(value))
      return {
        kind: "attachment",
        name: nameIn(inner, block) ?? value,
        mediaType: mediaType ?? guess(kind),
        url: value,
        path: undefined,
      };
    if (typeof value === "string" || bytesOf(value) !== undefined) {
      const inUrl = typeof value === "string" ? /^data:([^;,]+)/.exec(value)?.[1] : undefined;
      return {
        kind: "attachment",
        name: nameIn(inner, block) ?? kind.replace("_url", ""),
        mediaType: inUrl ?? mediaType ?? guess(kind),
        url: undefined,
        path: [...innerPath, key],
      };
    }
  }
  return {
    kind: "attachment",
    name: nameIn(inner, block) ?? kind,
    mediaType: mediaType ?? guess(kind),
    url: undefined,
    path: undefined,
  };
}

function nameIn(...places: readonly Fields[]): string | undefined {
  for (const place of places)
    for (const key of ["filename", "file_name", "title", "name", "file_id"]) {
      const name = textAt(place, key);
      if (name !== undefined && name !== "") return name;
    }
  return undefined;
}

function guess(kind: string): string | undefined {
  return kind.startsWith("image") ? "image" : kind.startsWith("audio") ? "audio" : undefined;
}

function reasoningItem(fields: Fields): readonly MessagePart[] {
  const summary = own(fields, "summary") as readonly unknown[];
  const text = summary.map((one) => (isPlainObject(one) ? (textAt(one, "text") ?? "") : String(one))).join("\n");
  return text === "" ? [] : [{ kind: "reasoning", text }];
}

/** Parses arguments and results that are JSON in a text; returns anything else as it is. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value) || value.length > 200_000) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
