import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  type AIMessageFields,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";

/** A message whose properties may be changed freely. */
export type Loose = Record<string, unknown> & { lc_kwargs: Record<string, unknown> };

/** Messages of every kind, each made anew. */
export const kinds: readonly (() => BaseMessage)[] = [
  () => new HumanMessage({ content: "text", id: "h" }),
  () => new HumanMessage("bare"),
  () => new AIMessage({ content: "text", id: "a", name: "planner" }),
  () => new ToolMessage({ content: "text", tool_call_id: "c", artifact: "flat", status: "success" }),
  () => new ChatMessage({ content: "text", role: "critic" }),
  () =>
    new AIMessage({
      content: "",
      id: "t",
      tool_calls: [{ id: "1", name: "search", args: { query: "a", filters: [{ kind: "b" }] }, type: "tool_call" }],
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      response_metadata: { model: "m", tokens: { prompt: 1 } },
    } as object as AIMessageFields),
  () => new HumanMessage({ content: [{ type: "text", text: "part" }], additional_kwargs: { tags: ["a", "b"] } }),
  () => new ToolMessage({ content: "text", tool_call_id: "c", artifact: { rows: [[1, 2], []], empty: {} } }),
  () => {
    const found = new Document({ pageContent: "page", metadata: { source: "s" } });
    return new ToolMessage({ content: "text", tool_call_id: "c", artifact: { found: [found] } });
  },
];

/** Changes that a caller's code may make to a message it holds. */
export const changes: Readonly<Record<string, (message: Loose) => void>> = {
  content: (message) => {
    message["content"] = "other";
  },
  "content becomes parts": (message) => {
    message["content"] = [{ type: "text", text: "part" }];
  },
  id: (message) => {
    message["id"] = "other";
  },
  "no id": (message) => {
    message["id"] = undefined;
  },
  name: (message) => {
    message["name"] = "Ada";
  },
  "a new kwarg": (message) => {
    (message["additional_kwargs"] as Loose)["seen"] = true;
  },
  "other kwargs": (message) => {
    message["additional_kwargs"] = { other: 1n };
  },
  metadata: (message) => {
    (message["response_metadata"] as Loose)["model"] = "m";
  },
  "other metadata": (message) => {
    message["response_metadata"] = new Map();
  },
  "a tool call": (message) => {
    const calls = message["tool_calls"] as unknown[] | undefined;
    calls?.push({ name: "f", args: {}, id: "1", type: "tool_call" });
  },
  "no tool calls": (message) => {
    if ("tool_calls" in message) message["tool_calls"] = undefined;
  },
  usage: (message) => {
    if ("usage_metadata" in message) message["usage_metadata"] = { input_tokens: 1 };
  },
  artifact: (message) => {
    if ("artifact" in message) message["artifact"] = { rows: [new Date(0)] };
  },
  role: (message) => {
    if ("role" in message) message["role"] = "judge";
  },
  "a property": (message) => {
    message["rating"] = 5;
  },
  "one property for another": (message) => {
    delete message["name"];
    message["rating"] = 5;
  },
  "one name for another, with the same under it": (message) => {
    const last = Object.keys(message).at(-1) as string;
    const { [last]: value } = message;
    delete message[last];
    message["other"] = value;
  },
  "the last it was made of": (message) => {
    delete message.lc_kwargs[Object.keys(message.lc_kwargs).at(-1) as string];
  },
  "what it was made of": (message) => {
    message.lc_kwargs["content"] = "another";
  },
  "more it was made of": (message) => {
    message.lc_kwargs["extra"] = new Set([1]);
  },
  "less it was made of": (message) => {
    delete message.lc_kwargs["id"];
  },
  "made of something else": (message) => {
    message.lc_kwargs = { content: "new" };
  },
  "deep within": (message) => {
    for (const part of innermost(message)) part["changed"] = "deep";
  },
  "deep within, a name less": (message) => {
    for (const part of innermost(message)) delete part[Object.keys(part).at(-1) as string];
  },
  "deep within, what cannot be told apart by its value": (message) => {
    for (const part of innermost(message)) part["changed"] = new Date(0);
  },
  "a list within is longer": (message) => {
    for (const list of listsIn(message)) list.push("more");
  },
  "a list within is shorter": (message) => {
    for (const list of listsIn(message)) list.pop();
  },
  "a list within has another element": (message) => {
    for (const list of listsIn(message)) if (list.length > 0) list[0] = { other: 1 };
  },
  "equal copies of what is within": (message) => {
    for (const key of data(message)) message[key] = structuredClone(message[key]);
  },
  nothing: () => undefined,
};

/** The properties that hold data: neither what the message was made of nor what its class is. */
function data(message: Loose): string[] {
  return Object.keys(message).filter((key) => !key.startsWith("lc_") && typeof message[key] === "object");
}

function within(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(within)];
}

function listsIn(message: Loose): unknown[][] {
  return data(message)
    .flatMap((key) => within(message[key]))
    .filter((part) => Array.isArray(part));
}

/** Of every property, the object that is deepest within. */
function innermost(message: Loose): Record<string, unknown>[] {
  return data(message).flatMap((key) => {
    // A property added to a Date cannot be stored.
    const objects = within(message[key]).filter((part) => !Array.isArray(part) && !(part instanceof Date));
    return objects.slice(-1) as Record<string, unknown>[];
  });
}
