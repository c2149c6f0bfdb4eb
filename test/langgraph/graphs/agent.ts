import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { on, type Scenario } from "./scenario.ts";

/** A chat model that says what it was told to say, by how many messages it has seen. */
class ScriptedModel extends BaseChatModel {
  readonly #replies: Readonly<Record<number, AIMessage>>;

  constructor(replies: Readonly<Record<number, AIMessage>>) {
    super({});
    this.#replies = replies;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.#replies[messages.length];
    if (message === undefined) throw new Error(`Nothing to say after ${messages.length} messages.`);
    return { generations: [{ text: String(message.content), message: clone(message) }] };
  }
}

/** A model never gives the same object twice. */
function clone(message: AIMessage): AIMessage {
  const { content, id, tool_calls, response_metadata, usage_metadata } = message;
  return new AIMessage({
    content,
    ...(id !== undefined && { id }),
    ...(tool_calls !== undefined && { tool_calls: structuredClone(tool_calls) }),
    response_metadata: structuredClone(response_metadata),
    ...(usage_metadata !== undefined && { usage_metadata: structuredClone(usage_metadata) as never }),
  });
}

const weather = tool(async ({ city }) => `It rains in ${city}.`, {
  name: "weather",
  description: "Tells the weather.",
  schema: z.object({ city: z.string() }),
});

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, input_token_details: { cache_read: 3 } };

function replies(): Readonly<Record<number, AIMessage>> {
  return {
    1: new AIMessage({
      content: "",
      id: "a1",
      tool_calls: [
        { name: "weather", args: { city: "Oslo" }, id: "call-1", type: "tool_call" },
        { name: "weather", args: { city: "Rome" }, id: "call-2", type: "tool_call" },
      ],
      response_metadata: { model_name: "scripted", finish_reason: "tool_calls" },
      usage_metadata: usage as never,
    }),
    4: new AIMessage({ content: "It rains in both.", id: "a2" }),
    6: new AIMessage({ content: [{ type: "text", text: "You are welcome." }], id: "a3" }),
  };
}

export const agent: Scenario = {
  name: "an agent with tools, over two turns",
  async run(checkpointer, thread) {
    const graph = createReactAgent({ llm: new ScriptedModel(replies()), tools: [weather], checkpointer });
    const first = await graph.invoke(
      { messages: [new HumanMessage({ content: "The weather?", id: "h1" })] },
      on(thread),
    );
    const second = await graph.invoke({ messages: [new HumanMessage({ content: "Thanks.", id: "h2" })] }, on(thread));
    return [first.messages.map(withoutId), second.messages.map(withoutId)];
  },
};

/** Tool messages get random ids. */
function withoutId(message: BaseMessage): unknown {
  return [message.getType(), message.content];
}
