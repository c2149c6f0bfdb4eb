/** A LangGraph agent that keeps its conversation in Threadmark. Run it twice: node agent.ts */
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ThreadmarkSaver } from "threadmark/langgraph";

// Before: const checkpointer = SqliteSaver.fromConnString("checkpoints.sqlite");
const checkpointer = await ThreadmarkSaver.open(process.env.THREADMARK_URL ?? "sqlite:agent.db");
const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => ({
    messages: [{ role: "assistant", content: `That was message ${messages.length}.` }],
  }))
  .addEdge(START, "answer")
  .compile({ checkpointer });

const { messages } = await graph.invoke(
  { messages: [{ role: "user", content: "hello" }] },
  { configurable: { thread_id: "user-42" } },
);
console.log(messages.at(-1)?.content);
await checkpointer.close();
