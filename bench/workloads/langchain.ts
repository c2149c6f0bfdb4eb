import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { message } from "./conversation.ts";
import type { State, Step, Workload } from "./workload.ts";

function messageObject(index: number): BaseMessage {
  const { id, content } = message(index);
  return index % 2 === 0 ? new HumanMessage({ id, content }) : new AIMessage({ id, content });
}

/** A conversation of message objects that is `length` messages long already. */
export function langchainOf(length: number): State {
  return { messages: Array.from({ length }, (_, index) => messageObject(index)), turn: length };
}

/** The conversation as a LangGraph graph has it: message objects of LangChain's classes. */
export const langchain: Workload = {
  name: "langchain",
  title: "a conversation, LangChain messages",
  steps: 300,
  langchain: true,
  initial: () => ({ messages: [], turn: 0 }),
  step(state): Step {
    const before = state["messages"] as readonly BaseMessage[];
    const added = messageObject(before.length);
    const set = { turn: before.length };
    return {
      state: { messages: [...before, added], ...set },
      update: { append: { messages: [added] }, set },
      changed: JSON.stringify({ messages: [added.toDict()], ...set }),
    };
  },
};
