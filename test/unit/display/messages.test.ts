import { expect, test } from "vitest";
import { findMessages, turnsOf } from "../../../src/display/messages/conversation.ts";
import { messageOf, messageText } from "../../../src/display/messages/message.ts";

const call = { id: "c1", name: "get_weather", args: { city: "Lisbon" } };

test.each([
  ["LangChain", { lc: "HumanMessage", content: "Hello", id: "1", kw: "cari" }, "user"],
  [
    "LangChain's constructor",
    { lc: 1, type: "constructor", id: ["langchain", "AIMessage"], kwargs: { content: "Hello" } },
    "assistant",
  ],
  ["LangChain's dictionary", { type: "human", data: { content: "Hello" } }, "user"],
  ["OpenAI", { role: "developer", content: [{ type: "input_text", text: "Hello" }] }, "system"],
  [
    "the AI SDK",
    { id: "m1", role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "Hello" }] },
    "assistant",
  ],
  ["role and text", { role: "user", text: "Hello" }, "user"],
])("a message of %s is recognised", (_, value, role) => {
  const message = messageOf(value);
  expect(message?.role).toBe(role);
  expect(message && messageText(message)).toBe("Hello");
});

test.each([
  [{ role: "admin", name: "Ann" }],
  [{ role: "user", name: "Ann" }],
  [{ lc: "Document", pageContent: "" }],
  [null],
  ["user"],
  [{ type: "text", content: "x" }],
])("%j is no message", (value) => {
  expect(messageOf(value)).toBeUndefined();
});

test.each([
  [
    "LangChain",
    [
      { lc: "AIMessage", content: "", tool_calls: [call] },
      { lc: "ToolMessage", content: '{"degrees":18}', tool_call_id: "c1" },
    ],
  ],
  [
    "OpenAI",
    [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Lisbon"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: '{"degrees":18}' },
    ],
  ],
  [
    "OpenAI's responses",
    [
      { type: "function_call", call_id: "c1", name: "get_weather", arguments: '{"city":"Lisbon"}' },
      { type: "function_call_output", call_id: "c1", output: '{"degrees":18}' },
    ],
  ],
  [
    "the AI SDK",
    [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "c1", toolName: "get_weather", input: { city: "Lisbon" } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "get_weather",
            output: { type: "json", value: { degrees: 18 } },
          },
        ],
      },
    ],
  ],
  [
    "the AI SDK's pages",
    [
      {
        role: "assistant",
        parts: [
          {
            type: "tool-get_weather",
            toolCallId: "c1",
            state: "output-available",
            input: { city: "Lisbon" },
            output: { degrees: 18 },
          },
        ],
      },
    ],
  ],
  [
    "Anthropic",
    [
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "get_weather", input: { city: "Lisbon" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: '{"degrees":18}' }] },
    ],
  ],
])("calls of %s are paired with their results, which are no turns of their own", (_, list) => {
  const turns = turnsOf(list);
  expect(turns).toHaveLength(1);
  const [part] = turns[0]?.message?.parts ?? [];
  expect(part).toMatchObject({ kind: "call", name: "get_weather", args: { city: "Lisbon" } });
  expect(turns[0]?.results.get(0)?.result).toMatchObject({ value: { degrees: 18 }, failed: false });
});

test("a result without its call stays a turn, and a failed result says so", () => {
  const turns = turnsOf([{ lc: "ToolMessage", content: "no such city", tool_call_id: "gone", status: "error" }]);
  expect(turns[0]?.message?.parts).toMatchObject([{ kind: "result", failed: true, value: "no such city" }]);
});

test("tokens and model are read where each library keeps them", () => {
  expect(
    messageOf({
      lc: "AIMessage",
      content: "x",
      usage_metadata: { input_tokens: 3, output_tokens: 4 },
      response_metadata: { model_name: "m" },
    }),
  ).toMatchObject({ model: "m", tokens: { input: 3, output: 4 } });
  expect(
    messageOf({ role: "assistant", content: "x", model: "m2", usage: { prompt_tokens: 1, completion_tokens: 2 } }),
  ).toMatchObject({ model: "m2", tokens: { input: 1, output: 2 } });
});

test("images and files are attachments, with the place of their bytes or their address", () => {
  const message = messageOf({
    role: "user",
    content: [
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
      { type: "image_url", image_url: { url: "https://example.org/a.png" } },
      { type: "file", filename: "a.pdf", mediaType: "application/pdf", data: new Uint8Array([1]) },
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AA==" } },
    ],
  });
  expect(message?.parts).toMatchObject([
    { kind: "attachment", mediaType: "image/png", path: ["content", 0, "image_url", "url"], url: undefined },
    { kind: "attachment", url: "https://example.org/a.png", path: undefined },
    { kind: "attachment", name: "a.pdf", mediaType: "application/pdf", path: ["content", 2, "data"] },
    { kind: "attachment", mediaType: "image/jpeg", path: ["content", 3, "source", "data"] },
  ]);
});

test("the conversation is the list under its usual name, or any list of messages, one level down at most", () => {
  const messages = [{ role: "user", content: "x" }];
  expect(findMessages({ log: messages, messages })?.path).toEqual(["messages"]);
  expect(findMessages({ n: 1, talk: messages })?.path).toEqual(["talk"]);
  expect(findMessages({ agent: { messages } })?.path).toEqual(["agent", "messages"]);
  expect(findMessages({ agent: { deep: { messages } } })).toBeUndefined();
  expect(findMessages({ messages: [], plan: ["a"] })).toBeUndefined();
});
