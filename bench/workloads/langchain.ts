import { AIMessage, type AIMessageFields, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { message } from "./conversation.ts";
import type { State, Step, Workload } from "./workload.ts";

/** A conversation of message objects that may begin with any number of them. */
export interface Chat extends Workload {
  of(length: number): State;
}

function chat(name: string, title: string, messageAt: (index: number) => BaseMessage): Chat {
  return {
    name,
    title,
    steps: 300,
    langchain: true,
    initial: () => ({ messages: [], turn: 0 }),
    of: (length) => ({ messages: Array.from({ length }, (_, index) => messageAt(index)), turn: length }),
    step(state): Step {
      const before = state["messages"] as readonly BaseMessage[];
      const added = messageAt(before.length);
      const set = { turn: before.length };
      return {
        state: { messages: [...before, added], ...set },
        update: { append: { messages: [added] }, set },
        changed: JSON.stringify({ messages: [added.toDict()], ...set }),
      };
    },
  };
}

/** The conversation as a LangGraph graph has it: message objects of LangChain's classes. */
export const langchain: Chat = chat("langchain", "a conversation, LangChain messages", (index) => {
  const { id, content } = message(index);
  return index % 2 === 0 ? new HumanMessage({ id, content }) : new AIMessage({ id, content });
});

/** An agent's: every question leads to a tool call and its result, and what a model says comes with what it used. */
export const agent: Chat = chat("agent", "an agent's conversation, with tool calls", (index) => {
  const { id, content, tokens } = message(index);
  const call = `call-${index - (index % 4)}`;
  const spent = {
    usage_metadata: { input_tokens: 10 * tokens, output_tokens: tokens, total_tokens: 11 * tokens },
    response_metadata: { model: "scripted", finish_reason: index % 4 === 1 ? "tool_calls" : "stop" },
  };
  if (index % 4 === 0) return new HumanMessage({ id, content });
  if (index % 4 === 2) return new ToolMessage({ id, content, tool_call_id: call, name: "search" });
  if (index % 4 === 3) return new AIMessage({ id, content, ...spent } as object as AIMessageFields);
  const args = { query: content.slice(0, 200), limit: tokens };
  const calls = [{ id: call, name: "search", args, type: "tool_call" as const }];
  return new AIMessage({ id, content: content.slice(200), tool_calls: calls, ...spent } as object as AIMessageFields);
});
