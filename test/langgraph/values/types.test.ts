import { isDeepStrictEqual } from "node:util";
import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { ChatPromptValue, StringPromptValue } from "@langchain/core/prompt_values";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { checkpointOf, loop, newThread, onEveryBackend, put, thread, valuesAt } from "../support/saver.ts";

const everyKind: readonly BaseMessage[] = [
  new HumanMessage("plain"),
  new HumanMessage({ content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }], name: "Ada" }),
  new HumanMessageChunk({ content: "chunk", id: "h" }),
  new AIMessage({
    content: "",
    id: "a",
    tool_calls: [
      { name: "search", args: { query: "x", when: new Date(5), big: 2n ** 70n }, id: "c", type: "tool_call" },
    ],
    invalid_tool_calls: [{ name: "search", args: "{", id: "d", error: "Malformed args.", type: "invalid_tool_call" }],
    additional_kwargs: { reasoning: { text: "because" } },
    response_metadata: { model_name: "m", logprobs: Number.NEGATIVE_INFINITY },
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } as never,
  }),
  new AIMessage({ content: [{ type: "text", text: "v1" }], response_metadata: { output_version: "v1" } } as never),
  new AIMessageChunk({
    content: "part",
    tool_call_chunks: [{ name: "f", args: '{"a":', index: 0, id: "c", type: "tool_call_chunk" }],
  }),
  new AIMessageChunk({
    content: "whole",
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } as never,
  }),
  new SystemMessage("be kind"),
  new SystemMessageChunk({ content: "be" }),
  new ToolMessage({
    content: "done",
    tool_call_id: "c",
    artifact: { bytes: new Uint8Array([1, 2]), at: new Date(0) },
    status: "error",
  }),
  new ToolMessage({
    content: "rows",
    tool_call_id: "d",
    artifact: [new Document({ pageContent: "page" })],
    metadata: { took: 3 },
  } as never),
  new ToolMessageChunk({ content: "do", tool_call_id: "c" }),
  new FunctionMessage({ content: "old", name: "f" }),
  new FunctionMessageChunk({ content: "ol", name: "f" }),
  new ChatMessage({ content: "custom", role: "critic" }),
  new ChatMessageChunk({ content: "cust", role: "critic" }),
  new RemoveMessage({ id: "gone" }),
];

class Money {
  readonly cents: number;

  constructor(cents: number) {
    this.cents = cents;
  }
}

onEveryBackend("types", (savers) => {
  it("every kind of message comes back with its class and all its fields", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    await put(saver, thread(id), { messages: everyKind });
    const read = (await valuesAt(await savers.again(), thread(id)))["messages"] as BaseMessage[];
    expect(read).toStrictEqual(everyKind);
    for (const [index, message] of read.entries()) {
      const before = everyKind[index] as BaseMessage;
      expect(Object.getPrototypeOf(message)).toBe(Object.getPrototypeOf(before));
      expect(Object.keys(message)).toEqual(Object.keys(before));
      expect(Object.keys(message.lc_kwargs)).toEqual(Object.keys(before.lc_kwargs));
      expect(JSON.stringify(message, bigints)).toBe(JSON.stringify(before, bigints));
      // `lc_kwargs` shares the message's own fields: an update of either shows in the other.
      if (before.lc_kwargs.additional_kwargs === before.additional_kwargs) {
        expect(message.lc_kwargs.additional_kwargs).toBe(message.additional_kwargs);
      }
    }
  });

  it("what was put on a message afterwards comes back as well", async () => {
    const saver = await savers.fresh();
    const message = new AIMessage({ content: "a", id: "1" });
    Object.assign(message, { rating: 5, name: undefined });
    message.lc_kwargs = { ...message.lc_kwargs, custom: new Map([["k", new HumanMessage("inside")]]) };
    const other = new HumanMessage("b");
    delete (other as { name?: string }).name;
    const id = newThread();
    await put(saver, thread(id), { messages: [message, other] });
    expect((await valuesAt(await savers.again(), thread(id)))["messages"]).toStrictEqual([message, other]);
  });

  it("values of every type come back exact, in the state, in writes and in metadata", async () => {
    const saver = await savers.fresh();
    const values = {
      bigint: 18446744073709551615n,
      date: new Date(1e12),
      map: new Map<unknown, unknown>([
        ["k", new Set([1, "2"])],
        [3n, new HumanMessage("in a map")],
      ]),
      set: new Set([new AIMessage("in a set")]),
      url: new URL("https://example.com/a?b#c"),
      bytes: new Uint8Array([0, 255]),
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0],
      undefined: { inside: undefined, list: [undefined] },
      error: new TypeError("no", { cause: new Error("why") }),
      pattern: /a+/giu,
      document: new Document({ pageContent: "text", metadata: { page: 3n }, id: "d" }),
      prompts: [new StringPromptValue("say"), new ChatPromptValue([new HumanMessage("hi")])],
      snapshot: new DeltaSnapshot([new HumanMessage("s")]),
      looksStored: { lc: "AIMessage", content: "not a message", nested: { lc: 1, type: "constructor", id: ["a"] } },
      __langgraph__: "a channel's name like any other",
      __proto__own: JSON.parse('{"__proto__": 1, "constructor": 2}') as object,
    };
    const id = newThread();
    const config = await put(saver, thread(id), values);
    await saver.putWrites(config, Object.entries(values), "task");
    const checkpoint = checkpointOf({});
    await saver.put(config, checkpoint, { ...loop, extra: values } as never, {});
    const again = await savers.again();
    expect(await valuesAt(again, config)).toStrictEqual(values);
    const tuple = await again.getTuple(config);
    const writes = Object.fromEntries((tuple?.pendingWrites ?? []).map(([, channel, value]) => [channel, value]));
    expect(writes).toStrictEqual(values);
    expect((await again.getTuple(thread(id)))?.metadata).toStrictEqual({ ...loop, extra: values });
  });

  it("what cannot be stored fails at once, naming the channel and the path", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const failure = { code: "SERIALIZE", thread: id };
    await expect(put(saver, thread(id), { a: 1, tools: [{ run: () => 1 }] })).rejects.toMatchObject({
      ...failure,
      path: "tools[0].run",
      message: expect.stringMatching(/^Channel "tools" of thread ".*": tools\[0\]\.run: a function cannot be stored/),
    });
    const config = await put(saver, thread(id), { a: 1 });
    const message = new ToolMessage({ content: "x", tool_call_id: "c", artifact: { price: new Money(3) } });
    await expect(put(saver, config, { messages: [new HumanMessage("a"), message] })).rejects.toMatchObject({
      ...failure,
      path: "messages[1].artifact.price",
      message: expect.stringContaining("an instance of the class Money"),
    });
    await expect(
      saver.putWrites(
        config,
        [
          ["ok", 1],
          ["bad one", { deep: [Symbol("s")] }],
        ],
        "t",
      ),
    ).rejects.toMatchObject({
      ...failure,
      path: "bad one.deep[0]",
    });
    await expect(put(saver, config, { "a: b": { call: () => 1 } })).rejects.toMatchObject({
      ...failure,
      path: "a: b.call",
      message: expect.stringMatching(/^Channel "a: b" of thread "[^"]*": a: b\.call: a function cannot be stored/),
    });
    const deep = `a: ${"x".repeat(400)}`;
    await expect(put(saver, config, { [deep]: () => 1 })).rejects.toMatchObject({
      ...failure,
      path: deep,
      message: expect.stringMatching(
        /^Channel "a: x*" of thread "[^"]*": a: x* \.\.\. x*: a function cannot be stored/,
      ),
    });
    class Own extends AIMessage {}
    await expect(put(saver, config, { messages: [new Own("mine")] })).rejects.toMatchObject({ path: "messages[0]" });
    expect(await valuesAt(saver, thread(id))).toEqual({ a: 1 });
  });

  it("a class of one's own comes back if the store knows it", async () => {
    const money = {
      test: (value: unknown): value is Money => value instanceof Money,
      encode: (value: Money) => value.cents,
      decode: (cents: unknown) => new Money(cents as number),
    };
    const saver = await savers.fresh({ classes: { Money: money } });
    const id = newThread();
    await put(saver, thread(id), { cart: { total: new Money(250), by: new HumanMessage("me") } });
    const read = await valuesAt(await savers.again({ classes: { Money: money } }), thread(id));
    expect(read["cart"]).toStrictEqual({ total: new Money(250), by: new HumanMessage("me") });
  });

  it("an answer that is saved beside other writes keeps its types, and is captured in the call", async () => {
    const saver = await savers.fresh();
    const config = await put(saver, thread(newThread()), { a: 1 });
    const plain = { said: ["yes"] };
    const answers = [Buffer.from("bytes"), Object.assign(new RangeError("far"), { code: "E" }), new URL("http://a.b/")];
    for (const answer of [...answers, plain]) {
      const writes = saver.putWrites(
        config,
        [
          ["a", 2],
          ["__resume__", [answer]],
        ],
        newThread(),
      );
      if (answer === plain) plain.said.push("later");
      await writes;
    }
    const read = (await saver.getTuple(config))?.pendingWrites?.flatMap(([, channel, value]) =>
      channel === "__resume__" ? (value as unknown[]) : [],
    );
    expect(read).toHaveLength(4);
    for (const answer of [...answers, { said: ["yes"] }]) {
      expect(read?.some((value) => isDeepStrictEqual(value, answer))).toBe(true);
    }
  });

  it("a message that was changed in place is stored as it is now", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const messages = [new HumanMessage("a"), new AIMessage({ content: "b", response_metadata: { n: { deep: 1 } } })];
    const first = await put(saver, thread(id), { messages });
    (messages[1] as AIMessage).content = "changed";
    ((messages[1] as AIMessage).response_metadata as { n: { deep: number } }).n.deep = 2;
    (messages[0] as HumanMessage).additional_kwargs = { seen: true };
    await put(saver, first, { messages }, 2);
    const before = (await valuesAt(saver, first))["messages"] as BaseMessage[];
    const after = (await valuesAt(saver, thread(id)))["messages"] as BaseMessage[];
    expect(before.map((message) => message.content)).toEqual(["a", "b"]);
    expect(before[1]?.response_metadata).toEqual({ n: { deep: 1 } });
    expect(after).toStrictEqual(messages);
  });

  it("what is given is captured in the call, and what is returned is the caller's own", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const message = new HumanMessage("then");
    const list = [message];
    const pending = put(saver, thread(id), { messages: list, nested: { a: [1] } });
    message.content = "later";
    list.push(new HumanMessage("too late"));
    const config = await pending;
    const writes = saver.putWrites(config, [["messages", list]], "t");
    list.length = 0;
    await writes;
    const read = await valuesAt(saver, config);
    (read["nested"] as { a: number[] }).a.push(2);
    const again = await saver.getTuple(config);
    expect(again?.checkpoint.channel_values).toEqual({ messages: [new HumanMessage("then")], nested: { a: [1] } });
    const written = (again?.pendingWrites ?? []).flatMap((write) => write[2] as BaseMessage[]);
    expect(written.map((entry) => entry.content)).toEqual(["later", "too late"]);
  });
});

function bigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
